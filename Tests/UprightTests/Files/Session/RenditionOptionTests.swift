import Foundation
import UprightOrientation
import Testing
import UprightMedia
import UprightFiles
import UprightFrames
import UprightMediaIO
import UprightTestSupport

/// Rungs, their rates, and the options of two canvases.
struct RenditionOptionTests {
  @Test("Rungs are sorted, and named by their size")
  func parsing() throws {
    let ladder = try Rung.ladder(parsing: ["360p:400k, 720p", "480x854:crf=28"])
    #expect(ladder.map(\.name) == ["720p", "480x854", "360p"])
    #expect(
      ladder.map(\.rate) == [nil, .constantQuality(28), .bitrate(400_000)])
    #expect(try Rung(parsing: "1280x720").name == "720p")
    #expect(try Rung.ladder(parsing: []).isEmpty)
  }

  @Test(
    "Bad ladders are usage errors that name the rung",
    arguments: [
      ("999p", "999p"), ("", "rung"), ("720p,", "rung"), ("720p:", "bitrate"),
      ("720p:fast", "fast"),
      ("720p:crf=x", "crf=x"), ("720p:crf=-1", "quality"), ("721x1281", "odd"), ("0x0", "encoded"),
      ("720p,720x1280", "two rungs"), ("720p,1280x720", "two rungs"), ("720p,640x480", "shape"),
      (
        "720p,718x1276,716x1272,714x1270,712x1266,710x1262,708x1258,706x1256,704x1252",
        "9 rungs"
      ),
    ])
  func badLadders(_ text: String, _ word: String) {
    let error = #expect(throws: UprightError.self) {
      try Rung.check(try Rung.ladder(parsing: [text]))
    }
    #expect(error?.code == .usage)
    #expect(error?.description.contains(word) == true, "\(String(describing: error))")
  }

  @Test("Rates: the preset's, a quality for all, or shares of a bit rate")
  func rates() throws {
    var options = TranscodeOptions()
    options.ladder = try Rung.ladder(parsing: ["720p,360p,480x854:900k"])
    func rates() -> [VideoEncoder.RateControl] { options.ladder.map(options.rate(of:)) }
    #expect(rates() == [.bitrate(1_500_000), .bitrate(900_000), .bitrate(600_000)])
    options.rate = .constantQuality(24)
    #expect(rates() == [.constantQuality(24), .bitrate(900_000), .constantQuality(24)])
    options.rate = .bitrate(3_000_000)
    #expect(rates() == [.bitrate(3_000_000), .bitrate(900_000), .bitrate(1_200_000)])
    options.ladder = try Rung.ladder(parsing: ["640x1136,3840x2160"])
    options.rate = .constantQuality(nil)
    let bits = rates().compactMap { if case .bitrate(let bits) = $0 { bits } else { nil } }
    #expect(bits.count == 2 && (8_000_000...9_000_000).contains(bits[0]))
    #expect((1_200_000...1_500_000).contains(bits[1]))
  }

  @Test("Renditions are canvases times rungs, with names")
  func renditions() throws {
    var options = TranscodeOptions()
    #expect(options.renditions.map(\.name) == [""])
    options.canvas = .dual
    #expect(options.renditions.map(\.name) == ["portrait", "landscape"])
    options.ladder = try Rung.ladder(parsing: ["360p", "720p"])
    #expect(
      options.renditions.map(\.name) == [
        "portrait-720p", "portrait-360p", "landscape-720p", "landscape-360p",
      ])
    options.canvas = .follow
    #expect(options.renditions.map(\.name) == ["720p", "360p"])
  }

  @Test("Two canvases have a blurred background, unless an option says otherwise")
  func fits() {
    var options = TranscodeOptions()
    #expect(options.fit(on: .follow) == .fit && !options.fills)
    options.canvas = .dual
    #expect(options.fit(on: .portrait) == .blur && options.fit(on: .landscape) == .blur)
    options.fit = .fit
    options.landscapeFit = .fill
    #expect(options.fit(on: .portrait) == .fit && options.fit(on: .landscape) == .fill)
    #expect(options.fills)
  }

  @Test(
    "Options that contradict each other are refused before anything is opened",
    arguments: [
      (#"{"ladder": "720p"}"#, "out.mp4", "one size"),
      (#"{"ladder": "720p"}"#, "out.y4m", "one size"),
      (#"{"ladder": ["720p"], "size": "720p"}"#, "out.m3u8", "--size"),
      (#"{"ladder": ["720p", "720p"]}"#, "out.m3u8", "two rungs"),
      (#"{"ladder": "720p", "reencode": "never"}"#, "out.m3u8", "--ladder"),
      (#"{"canvas": "dual", "size": "720x720"}"#, "out.mp4", "square"),
      (#"{"canvas": "dual", "ladder": "360x360"}"#, "out.m3u8", "square"),
      (#"{"canvas": "dual", "split": true}"#, "out.mkv", "--split"),
      (#"{"canvas": "dual", "upright": "metadata"}"#, "out.mp4", "--canvas"),
      (#"{"canvas": "dual"}"#, "rtmp://127.0.0.1/a/b", "two addresses"),
      (
        #"{"canvas": "dual", "landscape-output": "rtmp://127.0.0.1/a/b"}"#, "rtmp://127.0.0.1/a/b",
        "linked FFmpeg"
      ),
      (#"{"canvas": "dual", "landscape-output": "b.ts"}"#, "a.mp4", "not mp4"),
      (#"{"canvas": "dual", "landscape-output": "a.mp4"}"#, "a.mp4", "one file"),
      (#"{"canvas": "dual", "landscape-output": "b.m3u8"}"#, "a.m3u8", "both canvases"),
      (#"{"landscape-output": "b.mp4"}"#, "a.mp4", "--canvas dual"),
      (#"{"common-playlist": true}"#, "a.m3u8", "--canvas dual"),
      (#"{"canvas": "dual", "common-playlist": true}"#, "a.mp4", "no playlists"),
      (#"{"portrait-fit": "fill"}"#, "a.mp4", "--canvas dual"),
      (#"{"canvas": "dual", "landscape-fit": "cover"}"#, "a.mp4", "landscape-fit"),
    ])
  func refused(_ json: String, _ output: String, _ word: String) {
    let error = #expect(throws: UprightError.self) {
      var reader = try OptionReader(Array(json.utf8))
      let options = try TranscodeOptions(&reader)
      try reader.finish()
      _ = try TranscodeSession(input: "/nowhere.mp4", output: output, options: options)
    }
    #expect(error?.code == .usage)
    #expect(error?.description.contains(word) == true, "\(String(describing: error))")
  }
}
