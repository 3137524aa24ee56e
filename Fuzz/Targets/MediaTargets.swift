#if DEBUG
import UprightOrientation
import UprightSignals
import UprightMediaIO
import UprightPlaylists

@testable import UprightMedia
@testable import UprightLive

extension FuzzTarget {
  /// A Janus recording. The first two bytes are the position at which the file is cut.
  static let mjr = FuzzTarget("mjr") { bytes in
    var input = FuzzInput(bytes)
    let cut = Int(input.integer(UInt16.self))
    let file = Array(input.rest)
    let whole = items([file])
    let pieces = items([Array(file.prefix(cut)), Array(file.dropFirst(cut))])
    try expect(whole == pieces, "a cut at \(cut) changes the items read")
    var hasTimes = false
    for item in whole {
      switch item {
      case .header(let header): _ = try? JanusHeader(header, at: "recording")
      case .packet(let packet): hasTimes = hasTimes || packet.arrival != nil
      case .notARecording: break
      }
    }
    _ = JanusRecording.lastPacket(inTail: file, hasTimes: hasTimes)
  }

  private static func items(_ pieces: [[UInt8]]) -> [JanusRecording.Item] {
    var recording = JanusRecording()
    var items: [JanusRecording.Item] = []
    for piece in pieces {
      recording.append(piece)
      while let item = recording.next() { items.append(item) }
    }
    return items
  }

  static let sdp = FuzzTarget("sdp") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    _ = H264Parameters.sets(text)
    let description = try SessionDescription(text)
    for media in [description.video, description.audio].compactMap({ $0 }) {
      try expect(media.codec?.isVideo == media.isVideo, "\(media.codec as Any) of the wrong kind")
      _ = OrientationExtension(media.extensions)
    }
  }

  /// The playlist of an earlier run that a live one continues.
  static let playlist = FuzzTarget("playlist") { bytes in
    let earlier = String(decoding: bytes, as: UTF8.self)
    var checker = PlaylistChecker()
    _ = checker.check(earlier)
    _ = checker.check(earlier)
    let duration = MediaTime(2, .one)
    var playlist = LivePlaylist(segmentDuration: duration, continuing: earlier)
    let first = playlist.nextSegment
    try expect(first >= 0, "segment \(first)")
    playlist.begin(map: "init.mp4")
    playlist.add(segment: "last.m4s", duration: duration, start: .zero)
    _ = playlist.takeExpired()
    let again = LivePlaylist(segmentDuration: duration, continuing: playlist.text)
    try expect(again.needed == playlist.needed, "\(again.needed) is not \(playlist.needed)")
    // Larger numbers are clamped.
    guard first < 1 << 40 else { return }
    try expect(again.nextSegment == first + 1, "\(again.nextSegment) after \(first)")
  }

  /// The index of an MP4 file or the tracks of a Matroska file, which are corrected after writing.
  static let boxes = FuzzTarget("boxes") { bytes in
    var input = FuzzInput(bytes)
    let growth = Int(input.integer(UInt16.self))
    let body = Array(input.rest)
    var index = body
    _ = index.moveChunks(by: growth)
    try expect(index.count == body.count, "the index grew")
    if let tracks = MatroskaProjection.rectangular(body) {
      try expect(tracks.count == body.count, "the tracks grew")
    }
    let descriptions = SampleDescriptions(
      entries: [[], Array("entry".utf8)],
      runs: [.init(firstSample: 0, description: 1), .init(firstSample: 3, description: 2)],
      location: "index")
    for box in MP4Boxes(body, in: body.indices).complete {
      if box.payload.lowerBound - box.whole.lowerBound == 8 {
        let again = MP4Box.bytes(box.type, Array(body[box.payload]))
        try expect(again[...] == body[box.whole], "a box is not written as it was read")
      }
      guard box.type == "stbl" else { continue }
      _ = try SampleTables(body, box.payload, descriptions)
    }
  }
}
#endif
