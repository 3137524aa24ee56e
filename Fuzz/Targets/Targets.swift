#if DEBUG
extension FuzzTarget {
  static let all: [FuzzTarget] = [
    .boxes, .clip, .ebml, .edits, .events, .exif, .flv, .gravity, .inspection, .json, .keyframes,
    .mebx, .mjr,
    .packets, .parameters,
    .playlist, .policy, .rtp, .sdp, .sei, .telemetry, .times, .tkhd,
  ]
}
#endif
