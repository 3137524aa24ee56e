import UprightTestSupport
import Testing
import UprightOrientation

@testable import UprightMedia

@Suite struct MediaPlaylistTests {
  @Test("Three formats: one map each, a discontinuity before the second and the third")
  func formats() throws {
    var playlist = MediaPlaylist(targetDuration: MediaTime(6, .one), date: CalendarTime(seconds: 0))
    playlist.begin(map: "a-init-0.mp4")
    playlist.add(segment: "a-0.m4s", duration: MediaTime(seconds: 3.3333333), start: .zero)
    playlist.begin(map: "a-init-1.mp4")
    playlist.add(segment: "a-1.m4s", duration: MediaTime(seconds: 6), start: .zero)
    playlist.add(segment: "a-2.m4s", duration: MediaTime(seconds: 0.5), start: .zero)
    playlist.begin(map: "a-init-2.mp4")
    playlist.add(segment: "a-3.m4s", duration: MediaTime(seconds: 7.6), start: .zero)
    var read = try Playlist(text: playlist.text)
    #expect(read.type == "EVENT" && !read.isEnded)
    playlist.end()
    read = try Playlist(text: playlist.text)
    #expect(read.type == "VOD" && read.isEnded)
    #expect(read.maps == ["a-init-0.mp4", "a-init-1.mp4", "a-init-2.mp4"])
    #expect(read.discontinuities == 2)
    #expect(read.segments.map(\.isDiscontinuous) == [false, true, false, true])
    #expect(read.segments.map(\.file) == (0...3).map { "a-\($0).m4s" })
    // RFC 8216, 4.3.3.1: every rounded EXTINF is at most the target duration.
    #expect(read.targetDuration == 8)
    #expect(read.segments.map(\.duration) == [3.333333, 6, 0.5, 7.6])
  }

  @Test("Durations are never negative and use a decimal point")
  func durations() throws {
    var playlist = MediaPlaylist(targetDuration: MediaTime(2, .one), date: CalendarTime(seconds: 0))
    playlist.begin(map: "i.mp4")
    playlist.add(segment: "0.m4s", duration: MediaTime(seconds: -1), start: .zero)
    #expect(playlist.text.contains("#EXTINF:0.000000,\n0.m4s\n"))
    #expect(playlist.text.contains("#EXT-X-TARGETDURATION:2\n"))
    #expect(playlist.text.hasPrefix("#EXTM3U\n"))
  }
}
