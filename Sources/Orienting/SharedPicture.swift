package import UprightMediaIO

/// A picture that several owners keep, and none writes to.
package final class SharedPicture {
  package let frame: VideoFrame

  package init(_ frame: consuming VideoFrame) { self.frame = frame }
}
