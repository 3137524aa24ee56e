internal import CFFmpeg

extension VideoFrame {
  /// Another owner of the same picture: the memory is shared, and is only read from then on.
  package func shared() throws(MediaError) -> VideoFrame {
    let frame = try VideoFrame()
    try check(av_frame_ref(frame.raw, raw)) { _ in outOfMemory("frame") }
    return frame
  }

  /// This picture, its memory shared, with the times and all the rest of `other`, which it stands in
  /// for. Only the colour stays: it says what the samples mean.
  package func standingIn(for other: borrowing VideoFrame) throws(MediaError) -> VideoFrame {
    var frame = try shared()
    while frame.raw.pointee.nb_side_data > 0, let side = frame.raw.pointee.side_data?.pointee {
      av_frame_remove_side_data(frame.raw, side.pointee.type)
    }
    try frame.adoptProperties(of: other)
    frame.colour = colour
    frame.sampleAspectRatio = sampleAspectRatio
    frame.forcesKeyframe = false
    return frame
  }

  /// The same picture in memory of its own, with all that belongs to it.
  ///
  /// - Parameter pool: of this picture's size and format.
  package func copy(from pool: FramePool) throws(MediaError) -> VideoFrame {
    let frame = try pool.frame()
    try check(av_frame_copy(frame.raw, raw)) { MediaError(.fault, describe($0), at: "frame copy") }
    try check(av_frame_copy_props(frame.raw, raw)) { _ in outOfMemory("frame properties") }
    return frame
  }
}
