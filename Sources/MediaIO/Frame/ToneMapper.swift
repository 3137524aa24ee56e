internal import CUprightFFmpeg
package import UprightOrientation

/// Converts HDR (PQ and HLG, ITU-R BT.2100) to 8-bit BT.709 with libavfilter's zscale and tonemap. Each frame
/// produces one frame. Used by one thread.
package final class ToneMapper {
  private let chain: FilterChain
  private let colour: Colour
  private let size: PixelSize?

  /// The luminance of SDR white, in candela per square metre (ITU-R BT.2408, 2.2).
  private static let white = 203.0

  /// - Parameter size: The size of the result, which frames are scaled to first: floating-point samples are slow. `nil` for
  ///   their own.
  /// - Throws: `unavailable` if libavfilter is not installed or lacks a filter.
  package init(
    like frame: borrowing VideoFrame, size: PixelSize? = nil
  ) throws(UprightError) {
    (colour, self.size) = (frame.colour, size)
    // Compresses highlights from half of white up to the input's declared maximum brightness.
    let said = colour.hdr.light.map { Double($0.maximum) } ?? 0
    let screen = colour.hdr.mastering.map { Double($0.maximum) / 10000 } ?? 0
    let brightest = said > 0 ? said : screen > 0 ? screen : 1000
    let peak = min(max(brightest / Self.white, 1.01), 50)
    let scaling = size.map { [("zscale", "w=\($0.width):h=\($0.height):filter=bicubic")] } ?? []
    chain = try FilterChain(
      scaling + [
        ("zscale", "\(Self.input(colour)):transfer=linear:npl=\(Self.white)"),
        ("format", "gbrpf32le"),
        ("zscale", "primaries=709"),
        ("tonemap", "tonemap=mobius:param=0.5:desat=0:peak=\(peak)"),
        ("zscale", "transfer=709:matrix=709:primaries=709:range=limited"),
        ("format", "yuv420p"),
      ], like: frame, subject: "an HDR input in 8 bits",
      remedy: "use --codec hevc, which keeps HDR, or an FFmpeg whose libavfilter has zscale")
  }

  /// Returns zscale's input options. For properties that the frames don't declare they are those of BT.2020.
  private static func input(_ colour: Colour) -> String {
    let transfer = colour.transfer == AVCOL_TRC_SMPTE2084 ? "smpte2084" : "arib-std-b67"
    let isConstant = colour.matrix == AVCOL_SPC_BT2020_CL
    return "transferin=\(transfer):primariesin=2020:matrixin=\(isConstant ? "2020_cl" : "2020_ncl")"
      + ":rangein=\(colour.isFullRange ? "full" : "limited")"
  }

  /// Returns whether this tone mapper was created for frames like `frame`, and that size of the result.
  package func accepts(_ frame: borrowing VideoFrame, size: PixelSize?) -> Bool {
    chain.accepts(frame) && frame.colour == colour && size == self.size
  }

  /// Returns the frame in BT.709, with its timestamps.
  package func mapped(_ frame: consuming VideoFrame) throws(UprightError) -> VideoFrame {
    let kept = FrameProperties(frame)
    try chain.send(frame)
    guard var result = try chain.receive() else {
      throw UprightError(.fault, "tone mapping returned no frame")
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
  /// Whether the transfer function is an HDR one: PQ or HLG.
  package var isHDR: Bool {
    transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67
  }
}
