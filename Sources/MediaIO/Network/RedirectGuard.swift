internal import CUprightFFmpeg

/// Keeps an RTSP server from sending libavformat's client to another address. The client follows every
/// redirect, and no option forbids it.
///
/// libavformat copies a context's list of protocols to each connection before it connects, and polls the
/// context's interrupt callback only while it connects, sends or receives. So from the first poll on, the
/// first connection no longer needs the context's list, and only a redirect would open another one: all that
/// is left for the session is RTP over UDP.
final class RedirectGuard {
  private let context: UnsafeMutablePointer<AVFormatContext>
  private let interrupt: Interrupt
  /// Whether the client has started to connect. From then on it can't connect elsewhere: the attempt fails
  /// with `EINVAL`.
  private(set) var isActive = false

  /// Installs itself as the interrupt callback of `context`, whose owner keeps this object alive. Returns
  /// `nil` if `url` isn't an RTSP address.
  init?(
    _ context: UnsafeMutablePointer<AVFormatContext>, url: String, interrupt: Interrupt
  ) {
    guard let scheme = InputTrust.scheme(of: url), ["rtsp", "rtsps"].contains(scheme) else {
      return nil
    }
    self.context = context
    self.interrupt = interrupt
    context.pointee.interrupt_callback = AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<RedirectGuard>.fromOpaque(opaque).takeUnretainedValue().poll() ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Returns whether the client must stop.
  private func poll() -> Bool {
    if !isActive {
      guard av_opt_set(context, "protocol_whitelist", "rtp,udp", 0) >= 0 else { return true }
      isActive = true
    }
    return interrupt.isRaised
  }
}
