internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

/// Rewrites the packets of a stream without decoding them. Each packet produces at most one.
package final class BitstreamFilter {
  private let context: UnsafeMutablePointer<AVBSFContext>

  /// - Throws: `unavailable` if libavcodec has no filter called `name`, `badData` if the filter rejects the
  ///   stream.
  package init(_ name: String, for stream: StreamInfo) throws(UprightError) {
    guard let filter = av_bsf_get_by_name(name) else {
      throw UprightError(.unavailable, "the linked FFmpeg has no \(name)")
    }
    var made: UnsafeMutablePointer<AVBSFContext>?
    av_bsf_alloc(filter, &made)
    guard let context = made else { throw outOfMemory(name) }
    var code = avcodec_parameters_copy(context.pointee.par_in, stream.parameters.raw)
    context.pointee.time_base_in = AVRational(stream.timeBase)
    if code >= 0 { code = av_bsf_init(context) }
    guard code >= 0 else {
      av_bsf_free(&made)
      throw UprightError(.badData, "\(name): \(explain(code))", at: "stream \(stream.index)")
        .reporting(code)
    }
    self.context = context
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVBSFContext>? = context
    av_bsf_free(&pointer)
  }

  /// Returns the filtered packet. Returns `nil` if the filter dropped it.
  package func filter(_ packet: consuming Packet) throws(UprightError) -> Packet? {
    let timeBase = packet.timeBase
    guard av_bsf_send_packet(context, packet.raw) >= 0 else { return nil }
    let result = try Packet()
    guard av_bsf_receive_packet(context, result.raw) >= 0 else { return nil }
    result.raw.pointee.time_base = AVRational(timeBase)
    return result
  }

  /// Starts anew: the next packet doesn't follow the last one.
  func clear() { av_bsf_flush(context) }

  /// Returns the parameters of the filtered stream. Extradata found in the packets is in the packets' side
  /// data.
  package func parameters() throws(UprightError) -> CodecParameters {
    try CodecParameters(copying: context.pointee.par_out)
  }
}
