import Foundation
import Testing
import UprightSignals
import UprightTestSupport

@testable import UprightFiles
@testable import UprightMediaIO

/// The fates of what real files hold. The table is written by hand, from walks of the files' boxes: what isn't in
/// it is kept or changed.
@Suite("The fates of real files' parts")
struct LedgerClipTests {
  private static let location = "GPS position tags (--keep-location keeps them)"
  private static let dolby = [
    "stream 0 (video, hevc): Dolby Vision (dvvC)",
    "stream 0 (video, hevc): ambient viewing environment (amve)", "Dolby Vision metadata",
  ]

  private static func data(_ streams: ClosedRange<Int>, _ code: String) -> [String] {
    streams.map { "stream \($0) (data, \(code)): not supported in mp4" }
  }

  /// What an MP4 output lacks.
  private static let table: [(clip: String, lacks: [String])] = [
    ("rotation-real/dolbyVision-hdr.MOV", data(2...4, "mebx") + dolby + [location]),
    ("rotation-real/exo_video_1_rot270.mp4", [location]),
    ("rotation-real/h265_with_metadata_track.mp4", data(0...0, "mett") + [location]),
    (
      "rotation-real/iphone_rotated.mov",
      ["identifier", "framereadouttimeinmicroseconds"].map {
        "metadata com.apple.quicktime.camera.\($0): not read"
      } + [location]
    ),
    (
      "rotation-real/mv_with_2_top_shots.mp4",
      ["stream 1 (video, hevc): only one video track is transcoded"] + data(2...3, "mett")
    ),
    ("rotation-real/pixel7_videoOnly_cleaned.mp4", []), ("rotation-real/rotate-buck-bunny.mp4", []),
    ("rotation-real/sample_edit_list.mp4", data(2...3, "mebx") + dolby),
    ("rotation-D4/four-colors-h264-bt601-hflip.mp4", []),
    ("rotation-D4/four-colors-h264-bt601.mp4", []), ("rotation-D4/gecko_video_rotated.mp4", []),
    ("rotation-D4/gecko_video_rotation_90.mp4", []), ("rotation-D4/qt_color_matrix_0.mp4", []),
    ("rotation-D4/qt_color_matrix_180.mp4", []), ("rotation-D4/qt_color_matrix_mirrored.mp4", []),
    ("rotation-D4/sample_rotate_and_reflect.mp4", [location]),
    ("rotation-D4/video-rotation-90.mp4", []), ("hdr-10bit/h265_10bits.mp4", []),
    ("hdr-10bit/hdr10-av1.mp4", []), ("mkv-webm/gizmo_av1_8bit_420.webm", []),
    ("mpegts/no-initial-keyframe.ts", []), ("flv/avatar.flv", []), ("flv/sample.flv", []),
    ("vfr/cursed-vfr.mp4", []), ("vfr/sample_android_slow_motion.mp4", []),
    ("odd-sar/bear-vp9-odd-dimensions.webm", []), ("odd-sar/par_2_3.mp4", []),
    ("odd-sar/sar_2x1.mp4", []), ("interlaced/test1.mp4", []),
    ("bframes-elst/edit_list_positive_shift.mp4", []),
    ("bframes-elst/iibbibb_editlist_videoonly.mp4", []),
    ("res-change/change_video_resolution.ts", []), ("real-footage/foreman.mp4", []),
  ]

  // 3 s: no clip is encoded.
  @Test("What each lacks in MP4, and nothing else", .clips("rotation-real"))
  func fates() throws {
    let scratch = try Scratch()
    for (clip, lacks) in Self.table where SharedFiles.has("clips/\(clip)") {
      let session = try TranscodeSession(
        input: SharedFiles.url("clips/\(clip)").path, output: scratch.path("out.mp4"))
      #expect(try session.plan().dropped == lacks, "\(clip)")
    }
  }

  @Test("Every box of every clip has a fate", .clips("rotation-real"))
  func boxes() throws {
    let folder = SharedFiles.url("clips")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    var places = 0
    for path in paths where ["mp4", "mov"].contains((path as NSString).pathExtension.lowercased()) {
      // Its header's type is damaged.
      if path == "broken/no_timescale.mp4" { continue }
      let file = try #require(
        ByteSource(regularFile: folder.appendingPathComponent(path).path))
      guard let movie = MovieContent(in: file) else { continue }
      let outline = MovieOutline(movie: movie.bytes)
      places += outline.places.count
      #expect(BoxLedger.named(outline).isEmpty, "\(path): \(BoxLedger.named(outline))")
      #expect(BoxLedger.named(MovieFileBoxes(file).map(\.type)).isEmpty, "\(path)")
      for entry in MovieTrack.tracks(inMovie: movie.bytes).flatMap(\.entries) {
        let unwritten = BoxLedger.unwritten(entry).map(\.description)
        #expect(Set(unwritten).isSubset(of: ["dvvC", "amve"]), "\(path): \(unwritten)")
      }
    }
    #expect(places > 1000)
  }
}
