internal import MediaIO

/// A picture that several owners keep, and none writes to.
final class SharedPicture {
  let frame: VideoFrame

  init(_ frame: consuming VideoFrame) { self.frame = frame }
}
