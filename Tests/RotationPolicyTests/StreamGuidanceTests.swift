import UprightOrientation
import UprightPolicy
import Testing

@Suite("Streaming guidance") struct StreamGuidanceTests {
  @Test(
    "Portrait and upside down give 720x1280, landscape gives 1280x720",
    arguments: [
      (InterfaceOrientation.portrait, "720x1280"), (.portraitUpsideDown, "720x1280"),
      (.landscapeLeft, "1280x720"), (.landscapeRight, "1280x720"),
    ]) func layout(orientation: InterfaceOrientation, size: String)
  {
    for encode in [PixelSize(720, 1280), PixelSize(1280, 720)] {
      let format = StreamGuidance(encodeSize: encode).format(for: orientation)
      #expect(format.appOrientation == orientation)
      #expect(format.encodeResolution.description == size)
      #expect(format.captureResolution.description == size)
    }
  }

  @Test("captureSize sets captureResolution") func captureSize() throws {
    let guidance = try #require(
      try document("{'stream': {'size': '640x360', 'captureSize': '720x1280'}}").stream)
    let format = guidance.format(for: .landscapeLeft)
    #expect(format.captureResolution == PixelSize(1280, 720))
    #expect(format.encodeResolution == PixelSize(640, 360))
  }

  @Test("nil without sizes; one size is used for both") func absent() throws {
    #expect(try document("{}").stream == nil)
    #expect(try document("{'stream': {}}").stream == nil)
    #expect(
      try document("{'stream': {'captureSize': '2x4'}}").stream
        == StreamGuidance(encodeSize: PixelSize(2, 4)))
  }

  @Test("An encoded size larger than the capture size is an error")
  func largerThanCapture() throws {
    let error = try policyError {
      _ = try document("{'stream': {'size': '720x1280', 'captureSize': '640x360'}}")
    }
    #expect(error.code == .size)
    #expect(error.path == "stream.captureSize")
    #expect(error.remedy.contains("720x1280"))
    #expect(throws: PolicyError.self) {
      try StreamGuidance(encodeSize: PixelSize(400, 400), captureSize: PixelSize(360, 640)).check()
    }
  }

  @Test("Odd sizes are rejected, with the nearest even size as remedy") func odd() throws {
    let error = try policyError { _ = try StreamSize.parse("721x1281", at: "--size") }
    #expect(error.path == "--size")
    #expect(error.remedy.contains("720x1280"))
    #expect(try policyError { _ = try StreamSize.parse("1x2", at: "s") }.remedy.contains("2x2"))
  }

  @Test(
    "Text that is not a size",
    arguments: [
      "", "x", "720", "720x", "x1280", "720x1280x3", "-2x4", "+2x4", "0x2", "2x0", "7 x 2", "axb",
      "2,4", "99999999999999999999999x2", "2x65536", "720×1280", "0x10x2", "１２x２",
    ]) func notASize(text: String)
  {
    #expect(throws: PolicyError.self) { try StreamSize.parse(text, at: "s") }
    #expect(throws: PolicyError.self) { try document("{'stream': {'size': '\(text)'}}") }
  }

  @Test(
    "Presets",
    arguments: [
      ("180p", "180x320", 300_000), ("270p", "270x480", 400_000), ("360p", "360x640", 600_000),
      ("540p", "540x960", 1_200_000), ("720p", "720x1280", 1_500_000),
      ("1080P", "1080x1920", 3_000_000),
    ]) func presets(name: String, size: String, bitsPerSecond: Int) throws
  {
    let preset = try #require(StreamPreset.named(name))
    #expect(preset.size.description == size)
    #expect(preset.bitsPerSecond == bitsPerSecond)
    #expect(StreamPreset.named("4k") == nil)
    #expect(StreamPreset.all.count == 6)
  }
}
