package import UprightMediaIO

/// A frame with several owners, none of which writes to it.
package final class SharedFrame: Sendable {
  package let frame: VideoFrame

  package init(_ frame: consuming VideoFrame) { self.frame = frame }
}
