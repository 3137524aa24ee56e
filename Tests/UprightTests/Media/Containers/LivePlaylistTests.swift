import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightMedia

/// The sliding window of a live playlist: RFC 8216, 6.2.
@Suite(.tags(.waits)) struct LivePlaylistTests {
  private static let two = MediaTime(2, .one)

  /// Returns a playlist after adding `count` segments of 2 s, and the files that expired.
  private static func playlist(
    _ count: Int, changes: Set<Int> = [0], continuing text: String? = nil
  ) -> (list: LivePlaylist, gone: [String]) {
    var list = LivePlaylist(segmentDuration: two, continuing: text)
    var gone: [String] = []
    for index in 0..<count {
      let number = list.nextSegment
      if changes.contains(index) { list.begin(map: "i-\(number).mp4") }
      list.add(segment: "\(number).m4s", duration: two, start: two * index)
      gone += list.takeExpired()
    }
    return (list, gone)
  }

  @Test("Six segments are listed with media sequence and dates, without an end or a type")
  func window() throws {
    let (list, _) = Self.playlist(10)
    let read = try Playlist(text: list.text)
    #expect(read.mediaSequence == 4 && read.discontinuitySequence == 0)
    #expect(read.segments.map(\.file) == (4...9).map { "\($0).m4s" })
    #expect(read.segments.allSatisfy { $0.map == "i-0.mp4" && !$0.isDiscontinuous })
    #expect(read.type.isEmpty && !read.isEnded && read.targetDuration == 2)
    let dates = read.segments.compactMap(\.date)
    #expect(dates.count == 6)
    for (one, next) in zip(dates, dates.dropFirst()) {
      #expect(abs(next.timeIntervalSince(one) - 2) < 0.002)
    }
  }

  @Test("Removed discontinuities are counted, and each segment keeps its map")
  func discontinuities() throws {
    var list = LivePlaylist(segmentDuration: Self.two)
    var sequence: [Int] = []
    for index in 0..<14 {
      if [0, 2, 3, 9].contains(index) { list.begin(map: "i-\(index).mp4") }
      list.add(segment: "\(index).m4s", duration: Self.two, start: Self.two * index)
      let read = try Playlist(text: list.text)
      sequence.append(read.discontinuitySequence)
      // Each segment has its own initialization segment, wherever the window is.
      let maps = [0, 0, 2, 3, 3, 3, 3, 3, 3, 9, 9, 9, 9, 9]
      for (place, segment) in read.segments.enumerated() {
        #expect(segment.map == "i-\(maps[read.mediaSequence + place]).mp4")
      }
    }
    // The tag of segment 2 is removed with the segment, when segment 8 is added.
    #expect(sequence == [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2])
  }

  @Test("Files expire one window after they leave it, once each, maps with their last segment")
  func expiry() {
    let (_, gone) = Self.playlist(30, changes: [0, 5])
    // Segment n leaves the window when n + 6 is added. Its file expires after its own 2 s plus the 14 s of
    // the segments from it on.
    #expect(gone.filter { $0.hasSuffix("m4s") } == (0...15).map { "\($0).m4s" })
    #expect(gone.filter { $0.hasSuffix("mp4") } == ["i-0.mp4"])
    #expect(gone.firstIndex(of: "i-0.mp4") == gone.firstIndex(of: "4.m4s").map { $0 + 1 })
  }

  @Test("Another run in the same folder continues the numbers, after a discontinuity")
  func again() throws {
    let first = Self.playlist(10, changes: [0, 7]).list
    var ended = first
    ended.end()
    for text in [first.text, ended.text] {
      let (list, _) = Self.playlist(2, continuing: text)
      let read = try Playlist(text: list.text)
      #expect(read.mediaSequence == 6 && !read.isEnded)
      #expect(read.segments.map(\.file) == (6...11).map { "\($0).m4s" })
      #expect(read.segments.map(\.isDiscontinuous) == [false, true, false, false, true, false])
      #expect(
        read.segments.map(\.map)
          == ["i-0.mp4", "i-7.mp4", "i-7.mp4", "i-7.mp4", "i-10.mp4", "i-10.mp4"])
      #expect(read.segments.allSatisfy { $0.date != nil })
    }
  }

  @Test("The dates go on where an output is opened again, whatever the media time is then")
  func reopened() throws {
    let first = Self.playlist(10, changes: [0]).list
    let last = try #require(Playlist(text: first.text).segments.last)
    let end = try #require(last.date) + last.duration
    var list = LivePlaylist(segmentDuration: MediaTime(2, .one), continuing: first.text)
    list.begin(map: "i-10.mp4")
    list.add(segment: "10.m4s", duration: MediaTime(2, .one), start: MediaTime(1000, .one))
    let date = try #require(Playlist(text: list.text).segments.last?.date)
    #expect(abs(date.timeIntervalSince(end)) < 0.01, "\(end), \(date)")
  }

  @Test("With another target duration, only the numbers continue")
  func otherTarget() throws {
    let first = Self.playlist(10, changes: [0, 7]).list
    var list = LivePlaylist(segmentDuration: MediaTime(4, .one), continuing: first.text)
    list.begin(map: "i-10.mp4")
    list.add(segment: "10.m4s", duration: MediaTime(4, .one), start: .zero)
    let read = try Playlist(text: list.text)
    #expect(read.mediaSequence == 10 && read.targetDuration == 4)
    #expect(read.discontinuitySequence == 1 && read.segments.map(\.isDiscontinuous) == [true])
  }

  @Test("An invalid existing playlist is ignored")
  func hostile() throws {
    for text in [
      "", "not a playlist", "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:-5\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:nan,\na.m4s\n#EXTINF:1e300,\n",
      "#EXT-X-MEDIA-SEQUENCE:99999999999999999999\n#EXT-X-MAP:\"",
      "#EXT-X-MEDIA-SEQUENCE:9223372036854775807\n#EXT-X-TARGETDURATION:2\nx\ny\n",
    ] {
      let (list, _) = Self.playlist(8, continuing: text)
      let read = try Playlist(text: list.text)
      #expect(read.segments.count == 6 && read.mediaSequence >= 2)
    }
  }
}
