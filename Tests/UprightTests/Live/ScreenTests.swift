import Foundation
import Testing
import UprightMedia
import UprightOrientation
import UprightTestSupport

/// Outputs whose format turns, in players for the desktop: what is on the screen is read there. 15 s.
@Suite(.enabled(if: Needs.ffmpeg && Needs.python, "needs ffmpeg and python3"), .tags(.timed))
struct ScreenTests {
  static let outputs = [
    ("out.m3u8", SegmentKind.fmp4), ("out.m3u8", .ts), ("out.ts", .fmp4), ("out.mp4", .fmp4),
  ]

  @Test(
    "VLC plays on at a turn, upright and unstretched", .plays(.screen), .browser,
    arguments: Loop.cases(outputs, test: 1))
  func vlc(_ name: String, _ segments: SegmentKind) throws {
    let scratch = try Scratch()
    let clip = Samples.turning
    let run = try Transcoded(clip, to: scratch.path(name), events: Samples.turningEvents()) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(360, 640))
      $0.segments = segments
    }
    // VLC gives up root, and so needs to get there.
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: scratch.folder.path)
    let (status, said) = try Player.screen.play(["vlc", run.path])
    #expect(status == 0 && said["ended"].bool == true, "\(said["messages"])")
    let numbers = said["numbers"].ints
    #expect(numbers.first ?? 300 < 10 && numbers.last ?? 0 > 285, "\(numbers)")
    // A loaded machine shows fewer frames.
    #expect(numbers.count > 100 && said["unread"].int ?? 300 < 30, "\(said)")
    #expect(said["longest"].double ?? 9 < 2, "\(said)")
    let turns = said["turns"].array
    #expect(turns.map { $0["shape"].string } == ["tall", "wide", "tall"], "\(turns)")
    for (turn, frame) in zip(turns.dropFirst(), [100, 200]) {
      #expect(abs((turn["number"].int ?? 0) - frame) < 30, "\(turns)")
    }
  }

  @Test("The first segment of a later format begins with its init segment")
  func inits() throws {
    let scratch = try Scratch()
    let clip = Samples.turning
    _ = try Transcoded(clip, to: scratch.path("out.m3u8"), events: Samples.turningEvents()) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(180, 320))
      $0.segmentDuration = 1
    }
    let lines = try String(contentsOfFile: scratch.path("out.m3u8"), encoding: .utf8)
      .split(separator: "\n")
    var (header, isFirst, formats) = ([UInt8](), false, 0)
    for line in lines {
      if line.hasPrefix("#EXT-X-MAP:") {
        let name = line.split(separator: "\"")[1]
        header = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.path(String(name)))))
        (isFirst, formats) = (true, formats + 1)
      } else if !line.hasPrefix("#") {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.path(String(line)))))
        #expect(bytes.starts(with: header) == (isFirst && formats > 1), "\(line)")
        isFirst = false
      }
    }
    #expect(formats == 3)
  }
}
