internal import Orientation

/// Makes one progressive picture of every interlaced one, with libavfilter's bwdif; progressive
/// pictures come through untouched. Pictures in = pictures out, times, colour and siting kept.
///
/// It looks one picture ahead, so each comes out when the next has gone in. Used by one thread.
package final class Deinterlacer {
  private let chain: FilterChain
  /// Of the frames inside, in their order.
  private var inside: [KeptProperties] = []
  private var count: Int64 = 0

  /// Whether bwdif takes a picture this small; its window is some lines high.
  package static func suits(_ frame: borrowing VideoFrame) -> Bool {
    frame.size.width >= 16 && frame.size.height >= 16
  }

  /// - Throws: `unavailable` where libavfilter is not installed, has no bwdif or cannot take the format.
  package init(like frame: borrowing VideoFrame) throws(MediaError) {
    chain = try FilterChain(
      [("bwdif", "mode=send_frame:parity=auto:deint=interlaced")], like: frame,
      subject: "interlaced pictures", remedy: "install an FFmpeg whose libavfilter has bwdif")
  }

  /// Whether `frame` is of the size and format that this one was made for.
  package func takes(_ frame: borrowing VideoFrame) -> Bool { chain.takes(frame) }

  /// Takes the next picture in presentation order.
  package func send(_ frame: consuming VideoFrame) throws(MediaError) {
    inside.append(KeptProperties(frame))
    frame.pts = count
    count += 1
    try chain.send(frame)
  }

  /// Says that no picture follows: the one inside comes out.
  package func finish() throws(MediaError) { try chain.finish() }

  /// The next picture; nil where more are wanted, or at the end.
  package func receive() throws(MediaError) -> VideoFrame? {
    guard var frame = try chain.receive() else { return nil }
    guard !inside.isEmpty else { throw MediaError(.fault, "a deinterlaced picture of none") }
    inside.removeFirst().restore(to: &frame)
    frame.fields = nil
    return frame
  }
}
