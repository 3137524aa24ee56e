internal import CFFmpeg
internal import Orientation

/// Makes BT.709 in 8 bits of HDR (PQ and HLG, ITU-R BT.2100), with libavfilter's zscale and tonemap. One
/// frame in, one frame out. Used by one thread.
package final class ToneMapper {
  private let chain: FilterChain
  private let colour: Colour

  /// Candela a square metre of what is white in SDR (ITU-R BT.2408, 2.2).
  private static let white = 203.0

  /// - Throws: `unavailable` if libavfilter is not installed or lacks a filter.
  package init(like frame: borrowing VideoFrame) throws(MediaError) {
    colour = frame.colour
    // Highlights are bent from half of white on, up to the brightest that the clip says it has.
    let said = colour.hdr.light.map { Double($0.maximum) } ?? 0
    let screen = colour.hdr.mastering.map { Double($0.maximum) / 10000 } ?? 0
    let brightest = said > 0 ? said : screen > 0 ? screen : 1000
    let peak = min(max(brightest / Self.white, 1.01), 50)
    chain = try FilterChain(
      [
        ("zscale", "\(Self.input(colour)):transfer=linear:npl=\(Self.white)"),
        ("format", "gbrpf32le"),
        ("zscale", "primaries=709"),
        ("tonemap", "tonemap=mobius:param=0.5:desat=0:peak=\(peak)"),
        ("zscale", "transfer=709:matrix=709:primaries=709:range=limited"),
        ("format", "yuv420p"),
      ], like: frame, subject: "an HDR input in 8 bits",
      remedy: "use --codec hevc, which keeps HDR, or an FFmpeg whose libavfilter has zscale")
  }

  /// What zscale is to take the frames for; what they do not say is BT.2020's.
  private static func input(_ colour: Colour) -> String {
    let transfer = colour.transfer == AVCOL_TRC_SMPTE2084 ? "smpte2084" : "arib-std-b67"
    let isConstant = colour.matrix == AVCOL_SPC_BT2020_CL
    return "transferin=\(transfer):primariesin=2020:matrixin=\(isConstant ? "2020_cl" : "2020_ncl")"
      + ":rangein=\(colour.isFullRange ? "full" : "limited")"
  }

  /// Whether `frame` is one for which this was made.
  package func takes(_ frame: borrowing VideoFrame) -> Bool {
    chain.takes(frame) && frame.colour == colour
  }

  /// The frame in BT.709, with its own times.
  package func mapped(_ frame: consuming VideoFrame) throws(MediaError) -> VideoFrame {
    let kept = KeptProperties(frame)
    try chain.send(frame)
    guard var result = try chain.receive() else {
      throw MediaError(.fault, "a frame went into tone mapping and none came out")
    }
    kept.restore(to: &result)
    for kind in [
      AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL,
      AV_FRAME_DATA_DOVI_RPU_BUFFER, AV_FRAME_DATA_DOVI_METADATA, AV_FRAME_DATA_DYNAMIC_HDR_PLUS,
      AV_FRAME_DATA_DYNAMIC_HDR_VIVID,
    ] { av_frame_remove_side_data(result.raw, kind) }
    return result
  }
}

extension Colour {
  /// Whether the values are those of HDR: PQ or HLG.
  package var isHDR: Bool {
    transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67
  }
}
