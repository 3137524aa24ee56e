import Foundation
import Testing
import UprightTestSupport

@testable import Upright

@Suite("Options of a transcode by name")
struct NamedOptionsTests {
  private static func options(_ json: String) throws -> TranscodeOptions {
    var reader = try OptionReader(json.utf8)
    let options = try TranscodeOptions(&reader)
    try reader.finish()
    return options
  }

  @Test("The types of the Python package have every option")
  func python() throws {
    let package = URL(fileURLWithPath: #filePath).path.components(separatedBy: "/Tests/")[0]
    let text = try String(
      contentsOfFile: "\(package)/Python/upright/upright/_options.py", encoding: .utf8)
    let type = try #require(text.components(separatedBy: "class TranscodeOptions").last)
      .components(separatedBy: "\n\n\n")[0]
    let keys = type.matches(of: #/\n    ([a-z_]+): /#).map {
      String($0.1).replacing("_", with: "-")
    }
    // A word of Python's own is given as {"for": ...}. The containers are arguments beside the options.
    let names = TranscodeOption.all.map(\.name).filter { $0 != "for" }
    #expect(Set(keys) == Set(names + ["input-format", "format"]))
    #expect(Set(keys).count == keys.count)
  }

  @Test("Every option is read as on the command line")
  func all() throws {
    let options = try Self.options(
      #"""
      {"frames": "upright", "canvas": "majority", "reference": "interface", "fit": "blur", "anchor": "top",
       "background": "FF0000", "slate": "off.png", "overlay": ["logo.png@top:24", "bug.png@bottom"], "level": true,
       "size": "360p", "capture-size": "1280x720", "scaler": "fused", "codec": "hevc", "speed": "fast", "gop": 60,
       "latency": "live", "threads": 2, "encoder-options": "tune=film:bf=0", "segment": 2.5, "hls-segments": "ts",
       "split": true, "start": 1, "to": "2.5", "events-offset": -0.5, "audio": "a.mjr", "gravity": "iio",
       "upright": "metadata", "reencode": "auto", "chunks": "auto", "strict": true, "keep-location": true,
       "keep-partial": true, "overwrite": true}
      """#)
    #expect(
      options.frames == .upright && options.canvas == .majority && options.reference == .interface)
    #expect(
      options.fit == .blur && options.anchor == .top
        && options.background == RGBColour(hex: "FF0000"))
    #expect(options.slate == "off.png" && options.overlays.map(\.path) == ["logo.png", "bug.png"])
    #expect(
      options.levels && options.size == .pair(PixelSize(360, 640))
        && options.rate == .bitrate(600_000))
    #expect(
      options.captureSize == PixelSize(1280, 720) && options.scaler == .fused
        && options.codec == .hevc)
    #expect(options.speed == "fast" && options.gop == 60 && options.isLive && options.threads == 2)
    #expect(
      options.encoderOptions == ["tune": "film", "bf": "0"] && options.segmentDuration == 2.5)
    #expect(options.segments == .ts && options.splits && options.start == 1 && options.end == 2.5)
    #expect(
      options.eventsOffset == -0.5 && options.audio == "a.mjr" && options.gravity == .iioSensorProxy
    )
    #expect(options.upright == .metadata && options.reencode == .auto && options.copiesWhatFits)
    #expect(options.chunks == .auto && options.isStrict && options.keepsLocation)
    #expect(options.keepsPartial && options.overwrites)
  }

  @Test("A rate that is given goes before a preset's")
  func rates() throws {
    #expect(try Self.options(#"{"size": "360p", "crf": 20}"#).rate == .constantQuality(20))
    #expect(try Self.options(#"{"bitrate": "1.5M", "size": "360p"}"#).rate == .bitrate(1_500_000))
    #expect(try Self.options("{}").rate == TranscodeOptions().rate)
    #expect(throws: UprightError.self) { try Self.options(#"{"crf": 20, "bitrate": "1M"}"#) }
  }

  @Test("The options of a packet session are read beside the adapter's")
  func encoding() throws {
    var reader = try OptionReader(
      #"{"codec": "vp9", "bitrate": "800k", "speed": "7", "keyframe-seconds": 4, "frame-rate": 29.97}"#
        .utf8)
    let options = try EncodeOptions(&reader)
    try reader.finish()
    #expect(options.codec == .vp9 && options.rate == .bitrate(800_000) && options.speed == "7")
    #expect(options.keyframeSeconds == 4 && options.frameRate == Rational(2997, 100))
  }

  @Test("A queue's deadline passes, and a thread that waits is woken when it is closed")
  func deadlines() {
    let queue = TaskQueue<Int>(capacity: 1)
    #expect(queue.take(by: .now).isLate)
    #expect(queue.put(1, by: .now) == true)
    #expect(queue.put(2, by: .now + .milliseconds(10)) == nil)
    let sending = WorkThread(name: "sender") { queue.put(3, by: nil) }
    #expect(queue.take(by: nil).element == 1)
    #expect(sending.join() == true)
    let waiting = WorkThread(name: "sender") { queue.put(4, by: .after(seconds: .infinity)) }
    queue.close()
    #expect(waiting.join() == false)
    #expect(queue.take(by: .now).element == 3)
    #expect(!queue.take(by: .now).isLate)
  }
}
