package import UprightOrientation

/// Converts every interlaced frame to one progressive frame with libavfilter's bwdif. Progressive frames pass
/// through unchanged. The number of frames, the timestamps, the colour and the siting are kept.
///
/// It looks one frame ahead, so each frame is returned after the next was sent. Used by one thread.
package final class Deinterlacer {
  private let chain: FilterChain
  /// The properties of the frames inside the filter, in order.
  private var inside: [FrameProperties] = []
  private var count: Int64 = 0

  /// Returns whether the frame is large enough for bwdif, whose window is some lines high.
  package static func suits(_ frame: borrowing VideoFrame) -> Bool {
    frame.size.width >= 16 && frame.size.height >= 16
  }

  /// - Throws: `unavailable` if libavfilter isn't installed, has no bwdif or can't process the format.
  package init(like frame: borrowing VideoFrame) throws(UprightError) {
    chain = try FilterChain(
      [("bwdif", "mode=send_frame:parity=auto:deint=interlaced")], like: frame,
      subject: "interlaced frames", remedy: "install an FFmpeg whose libavfilter has bwdif")
  }

  /// Returns whether `frame` has the size and format that this deinterlacer was created for.
  package func accepts(_ frame: borrowing VideoFrame) -> Bool { chain.accepts(frame) }

  /// Sends the next frame in presentation order.
  package func send(_ frame: consuming VideoFrame) throws(UprightError) {
    inside.append(FrameProperties(frame))
    frame.pts = count
    count += 1
    try chain.send(frame)
  }

  /// Marks the end of the input. The last frame can then be received.
  package func finish() throws(UprightError) { try chain.finish() }

  /// Returns the next frame. Returns `nil` if more frames are needed, or at the end.
  package func receive() throws(UprightError) -> VideoFrame? {
    guard var frame = try chain.receive() else { return nil }
    guard !inside.isEmpty else { throw UprightError(.fault, "bwdif returned too many frames") }
    inside.removeFirst().restore(to: &frame)
    frame.fields = nil
    return frame
  }
}
