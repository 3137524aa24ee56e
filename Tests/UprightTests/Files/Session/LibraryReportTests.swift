import Foundation
import UprightOrientation
import Testing
import UprightMedia
import UprightMediaIO
import UprightTestSupport

@Suite("Errors keep FFmpeg's code and text, and depend on neither its log nor its texts")
struct LibraryReportTests {
  /// Returns the error of opening the file `name` with `content`.
  private static func error(_ name: String, _ content: Data?) throws -> UprightError? {
    let scratch = try Scratch()
    let path = scratch.path(name)
    try content?.write(to: URL(fileURLWithPath: path))
    return withExtendedLifetime(scratch) {
      #expect(throws: UprightError.self) { try openSource(path) }
    }
  }

  private static let invalid: Int32 = -1_094_995_529

  @Test("A missing file")
  func missing() throws {
    let error = try Self.error("a.mp4", nil)
    #expect(error?.code == .noInput)
    #expect(error?.library == .init(code: -ENOENT, text: "No such file or directory"))
  }

  @Test(
    "An MP4 file without its index",
    arguments: [
      (0.05, true), (0.2, true), (0.5, true),
    ])
  func withoutIndex(_ part: Double, _ isMissing: Bool) throws {
    let scratch = try Scratch()
    let clip = scratch.path("end.mp4")
    try FFmpegTool.run("-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v libx264", [clip])
    let whole = try Data(contentsOf: URL(fileURLWithPath: clip))
    let error = try Self.error("cut.mp4", whole.prefix(Int(Double(whole.count) * part)))
    #expect(error?.code == .badData && error?.library?.code == Self.invalid)
    #expect(error?.message.contains("no index (moov)") == isMissing, "\(error?.message ?? "")")
  }

  @Test("Neither noise nor text has an index that could be missing")
  func noMovie() throws {
    for content in ["Dear diary,\n", String(repeating: "noise", count: 100)] {
      let error = try Self.error("a.mp4", Data(content.utf8))
      #expect(error?.code == .badData && error?.library != nil)
      #expect(error?.message.contains("no index") == false, "\(error?.message ?? "")")
    }
  }

  @Test("A file that only names others", arguments: ["clip.mp4", "clip"])
  func script(_ name: String) throws {
    for content in [
      "ffconcat version 1.0\nfile a.mp4\n", "#EXTM3U\n#EXTINF:2,\na.mp4\n#EXT-X-ENDLIST\n",
      "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=audio 5004 RTP/AVP 0\r\n",
    ] {
      let error = try Self.error(name, Data(content.utf8))
      #expect(error?.code == .badData && error?.library != nil)
      #expect(error?.message.contains("playlist or script") == true, "\(error?.message ?? "")")
    }
  }

  @Test("A format that isn't read")
  func unsupported() throws {
    let scratch = try Scratch()
    let clip = scratch.path("a.nut")
    try FFmpegTool.run("-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v libx264", [clip])
    let error = try Self.error("a.nut", Data(contentsOf: URL(fileURLWithPath: clip)))
    #expect(error?.code == .badData && error?.library?.code == -EINVAL)
    #expect(error?.message == "not a readable media file: its format is not supported")
  }

  @Test("An encoder's settings, and an output's folder")
  func writing() throws {
    let scratch = try Scratch()
    let output = #expect(throws: UprightError.self) {
      try Muxer(format: "mp4", target: .url(scratch.path("none/a.mp4")))
    }
    #expect(output?.library?.code == -ENOENT)
  }
}
