internal import CUprightFFmpeg
package import UprightOrientation

extension VideoFrame {
  /// Returns a second owner of the same frame. The memory is shared, and is read-only from then on.
  package func shared() throws(UprightError) -> VideoFrame {
    var frame = try VideoFrame()
    frame.lineScale = lineScale
    try check(av_frame_ref(frame.raw, raw)) { _ in outOfMemory("frame") }
    return frame
  }

  /// Whether no other frame shares the memory.
  package var isWritable: Bool { av_frame_is_writable(raw) != 0 }

  /// Returns a replacement for `other`: this frame's samples, in shared memory, with the timestamps and the
  /// other properties of `other`. The colour and the sample aspect ratio stay this frame's, because they
  /// describe the samples.
  package func replacement(for other: borrowing VideoFrame) throws(UprightError) -> VideoFrame {
    var frame = try shared()
    while frame.raw.pointee.nb_side_data > 0, let side = frame.raw.pointee.side_data?.pointee {
      av_frame_remove_side_data(frame.raw, side.pointee.type)
    }
    try frame.copyProperties(of: other)
    frame.colour = colour
    frame.sampleAspectRatio = sampleAspectRatio
    frame.forcesKeyframe = false
    return frame
  }

  /// Returns a copy of the frame in separate memory, with all its properties.
  ///
  /// - Parameter pool: A pool for this frame's size and format.
  package func copy(from pool: FramePool) throws(UprightError) -> VideoFrame {
    let frame = try pool.frame()
    try check(av_frame_copy(frame.raw, raw)) {
      UprightError(.fault, describe($0), at: "frame copy")
    }
    try check(av_frame_copy_props(frame.raw, raw)) { _ in outOfMemory("frame properties") }
    return frame
  }
}
