package import UprightOrientation
package import UprightMediaIO
internal import UprightSignals

/// The segment format of an HLS output.
package protocol HLSSegments: AnyObject {
  /// The file name extension of segments.
  var fileExtension: String { get }
  /// Whether init segments say at which time each track begins. Without, all have one offset.
  var hasEditLists: Bool { get }
  /// Starts a format at segment `index` and returns its init segment; `nil` if segments need none.
  func begin(
    _ description: OutputDescription, segment index: Int
  ) throws(UprightError) -> [UInt8]?
  /// Writes the next packet of the segment.
  func write(_ packet: consuming Packet, track: Int) throws(UprightError)
  /// Ends the segment and returns its data.
  func cut() throws(UprightError) -> [UInt8]
}

extension HLSSegments {
  package var hasEditLists: Bool { false }
}

/// Fragmented MP4 (RFC 8216, 3.3): one `mp4` muxer and one init segment per format.
package final class FragmentedSegments: HLSSegments {

  package init() {
  }
  package let fileExtension = "m4s"
  package let hasEditLists = true
  private var muxer: Muxer?

  package func begin(
    _ description: OutputDescription, segment index: Int
  ) throws(UprightError) -> [UInt8]? {
    try muxer?.finish()
    let muxer = try Muxer(format: "mp4", target: .memory)
    try muxer.addTracks(description, isSelfContained: true)
    // A fragment's number has 32 bits (ISO/IEC 14496-12, 8.8.5). Those of a live playlist's segments may have more.
    let fragment = index % (1 << 30) + 1
    try muxer.writeHeader([
      (
        "movflags",
        "+frag_custom+empty_moov+default_base_moof+frag_discont+skip_trailer"
      ),
      ("use_editlist", "0"), ("fragment_index", "\(fragment)"),
      ("avoid_negative_ts", "disabled"),
    ])
    self.muxer = muxer
    let header = try muxer.takeBytes()
    guard description.earliestTime < .zero || description.priming > 0 else { return header }
    return Self.shown(header, description)
  }

  /// Returns an init segment whose tracks are shown from their offset on (ISO/IEC 14496-12, 8.6.6): without that, the stream
  /// would begin with a hole, which hls.js jumps over, and some frames after it.
  private static func shown(_ header: [UInt8], _ description: OutputDescription) -> [UInt8] {
    func children(_ range: Range<Int>) -> [MP4Box] { MP4Boxes(header, in: range).complete }
    return children(header.indices).flatMap { box -> [UInt8] in
      guard box.type == "moov" else { return Array(header[box.whole]) }
      var times = TrackTimes.tracks(inMovie: Array(header[box.payload]))[...]
      var isVideo = description.hasVideo
      let boxes = children(box.payload).flatMap { child -> [UInt8] in
        if child.type == "udta", description.priming > 0 {
          return GaplessTag.userData(priming: description.priming)
        }
        guard child.type == "trak", let track = times.popFirst() else {
          return Array(header[child.whole])
        }
        let start = description.segmentOffset(ofVideo: isVideo, in: Rational(1, track.timescale))
        isVideo = false
        // To the end of the fragments, at the normal rate.
        let edit = [0, Int(start.ticks), TrackTimes.Edit.normalRate]
          .flatMap { [UInt8].big($0, bytes: 4) }
        let list = MP4Box.bytes("edts", MP4Box.table("elst", count: 1, edit))
        let parts = children(child.payload).flatMap { part -> [UInt8] in
          Array(header[part.whole]) + (part.type == "tkhd" ? list : [])
        }
        return MP4Box.bytes("trak", parts)
      }
      return MP4Box.bytes("moov", boxes)
    }
  }

  package func write(_ packet: consuming Packet, track: Int) throws(UprightError) {
    try muxer?.write(packet, stream: track)
  }

  package func cut() throws(UprightError) -> [UInt8] {
    try muxer?.endFragment()
    return try muxer?.takeBytes() ?? []
  }
}

/// MPEG-TS (RFC 8216, 3.2): one muxer for all formats, so that continuity counters continue. Parameter sets
/// are in band; PAT and PMT are at the start of each segment.
///
/// Packets are in decoding order: libavformat takes the first one's decoding time for the playlist's zero, and when it
/// seeks it skips the keyframe of every segment that is earlier by that.
package final class TransportSegments: HLSSegments {

  package init() {
  }
  package let fileExtension = "ts"
  private var muxer: Muxer?

  package func begin(
    _ description: OutputDescription, segment index: Int
  ) throws(UprightError) -> [UInt8]? {
    guard muxer == nil else { return nil }
    let muxer = try Muxer(format: "mpegts", target: .memory)
    try muxer.addTracks(description)
    muxer.setMetadata(description.metadata)
    muxer.ordersPackets = true
    try muxer.writeHeader([("avoid_negative_ts", "disabled")])
    self.muxer = muxer
    return nil
  }

  package func write(_ packet: consuming Packet, track: Int) throws(UprightError) {
    try muxer?.write(packet, stream: track)
  }

  package func cut() throws(UprightError) -> [UInt8] {
    try muxer?.endSegment()
    return try muxer?.takeBytes() ?? []
  }
}
