import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightMediaIO

/// Encoders by FFmpeg's name. No test has a device: what needs one ends with the error of a device that isn't there.
@Suite("Encoders by name")
struct NamedEncoderTests {
  private static let hardware = NamedEncoder.names.filter { $0.contains("_") }

  @Test("The names of families and codecs")
  func names() throws {
    #expect(Self.hardware.count == 6)
    let encoder = try NamedEncoder(parsing: "hevc_vaapi@/dev/dri/renderD129")
    #expect(encoder.codec == .hevc && encoder.family == .vaapi)
    #expect(encoder.device == "/dev/dri/renderD129")
    #expect(encoder.text == "hevc_vaapi@/dev/dri/renderD129")
    #expect(try NamedEncoder(parsing: "libaom-av1").family == nil)
    for text in ["h264_vaapi@", "libx264@0", "h264", "mpeg2_vaapi", ""] {
      #expect(throws: UprightError.self, "\(text)") { try NamedEncoder(parsing: text) }
    }
  }

  @Test("The linked encoders have every option that is set", arguments: hardware)
  func options(_ name: String) throws {
    let encoder = try NamedEncoder(parsing: name)
    let speed = ["vaapi": "4", "nvenc": "p1", "qsv": "slow"][name.split(separator: "_")[1]]
    for rate in [.constantQuality(nil), .constantQuality(0), .bitrate(1_000_000)]
      as [VideoEncoder.RateControl]
    {
      for speed in [nil, speed] {
        do throws(UprightError) {
          try encoder.codec.check(speed: speed, rate: rate, options: ["g": "30"], encoder: encoder)
        } catch {
          // The hardware that FFmpeg was built for.
          #expect(error.code == .unavailable && error.message.hasSuffix("has no \(name)"))
        }
      }
    }
    for (speed, options) in [("warp", [:]), (nil, ["nonsense": "1"])]
      as [(String?, [String: String])]
    {
      let error = #expect(throws: UprightError.self) {
        try encoder.codec.check(
          speed: speed, rate: .bitrate(1_000_000), options: options, encoder: encoder)
      }
      #expect(error?.code == .usage || error?.code == .unavailable)
    }
  }

  @Test("Keyframes are IDR frames, nothing is reordered, and a live frame waits for no other")
  func table() {
    func options(
      _ family: HardwareFamily, _ rate: VideoEncoder.RateControl, isLive: Bool = false
    ) -> [String: String] {
      family.options(codec: .h264, rate: rate, speed: nil, isLive: isLive)
    }
    let (quality, bits) = (
      VideoEncoder.RateControl.constantQuality(nil), VideoEncoder.RateControl.bitrate(1)
    )
    #expect(options(.vaapi, quality) == ["bf": "0", "rc_mode": "CQP", "qp": "20"])
    #expect(options(.vaapi, bits, isLive: true) == ["bf": "0", "async_depth": "1"])
    #expect(
      options(.nvenc, .constantQuality(0)) == [
        "bf": "0", "preset": "p4", "forced-idr": "1", "rc": "vbr", "cq": "1", "b": "0",
      ])
    #expect(
      options(.nvenc, bits, isLive: true) == [
        "bf": "0", "preset": "p4", "forced-idr": "1", "rc": "cbr", "tune": "ll",
        "zerolatency": "1", "delay": "0",
      ])
    #expect(
      options(.qsv, quality, isLive: true) == [
        "bf": "0", "preset": "veryfast", "forced_idr": "1", "global_quality": "23",
        "async_depth": "1",
      ])
  }

  @Test("Frames keep their samples in the layout of the encoder", arguments: [false, true])
  func layout(isDeep: Bool) throws {
    let format = isDeep ? PixelFormat.yuv420p10 : .yuv420p
    let input = HardwareFamily.vaapi.input(for: format)
    #expect(input.name == (isDeep ? "p010le" : "nv12"))
    let size = PixelSize(38, 22)
    var frame = try FramePool(size: size, format: format).frame()
    let bytes = isDeep ? 2 : 1
    func sample(_ plane: Int, _ x: Int, _ y: Int) -> Int {
      (plane * 89 + x * 7 + y * 13) % (isDeep ? 1024 : 256)
    }
    for index in 0..<3 {
      guard let plane = frame.plane(index) else { continue }
      for y in 0..<(index == 0 ? 22 : 11) {
        for x in 0..<(index == 0 ? 38 : 19) {
          let value = sample(index, x, y)
          let place = plane.start + y * plane.stride + x * bytes
          place[0] = UInt8(value & 255)
          if isDeep { place[1] = UInt8(value >> 8) }
        }
      }
    }
    frame.pts = 42
    frame.forcesKeyframe = true
    let change = try FrameLayoutChange(size: size, from: format, to: input)
    let made = try change.frame(of: frame)
    let isMade = made != nil
    #expect(isMade)
    guard let copy = made else { return }
    #expect(copy.pts == 42 && copy.forcesKeyframe && copy.size == size)
    var wrong: [String] = []
    for index in 0..<3 {
      guard let plane = copy.plane(min(index, 1)) else { continue }
      for y in 0..<(index == 0 ? 22 : 11) {
        for x in 0..<(index == 0 ? 38 : 19) {
          let column = index == 0 ? x : 2 * x + index - 1
          let place = plane.start + y * plane.stride + column * bytes
          let value = isDeep ? (Int(place[0]) | Int(place[1]) << 8) >> 6 : Int(place[0])
          if value != sample(index, x, y) { wrong.append("\(index) (\(x), \(y)): \(value)") }
        }
      }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    let same = try FrameLayoutChange(size: size, from: format, to: format).frame(of: frame)
    let isSame = same == nil
    #expect(isSame)
  }

  @Test(
    "An encoder whose device isn't there is unavailable, and the error names the device",
    arguments: ["h264_vaapi@/nowhere", "hevc_nvenc@99", "h264_qsv@/nowhere"])
  func missing(_ text: String) throws {
    let encoder = try NamedEncoder(parsing: text)
    var settings = VideoEncoder.Settings(
      codec: encoder.codec, size: PixelSize(64, 64), format: .yuv420p, colour: Colour(),
      timeBase: Rational(1, 30))
    settings.encoder = encoder
    #expect(!settings.carriesFields)
    let error = #expect(throws: UprightError.self) { try VideoEncoder(settings) }
    #expect(error?.code == .unavailable && error?.location == "--encoder \(text)")
    let device = try #require(encoder.device)
    #expect(error?.message.contains("the device \(device)") == true, "\(String(describing: error))")
  }
}
