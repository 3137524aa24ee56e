internal import CUprightFFmpeg
package import UprightOrientation

/// Blank frames of one size and format. Their memory is reused once every reference is gone.
///
/// One thread takes frames. They may be released on any thread.
package final class FramePool {
  package let size: PixelSize
  package let format: PixelFormat
  private let buffers: OpaquePointer
  /// The alignment of rows in bytes.
  private let alignment: CInt

  /// - Parameter isPacked: Whether rows follow each other without padding. Otherwise they begin at multiples of
  ///   64 bytes, which suits every kernel and libswscale.
  package init(size: PixelSize, format: PixelFormat, isPacked: Bool = false) throws(UprightError) {
    self.size = size
    self.format = format
    alignment = isPacked ? 1 : 64
    let bytes = av_image_get_buffer_size(
      format.raw, CInt(clamping: size.width), CInt(clamping: size.height), alignment)
    guard bytes > 0 else {
      throw UprightError(.usage, "a frame cannot be \(size) in \(format)")
    }
    // Vector code may read a row's last block as a whole. 64 spare bytes keep that inside the buffer.
    guard let buffers = av_buffer_pool_init(Int(bytes) + 64, FrameMemory.allocate) else {
      throw outOfMemory("frame pool")
    }
    self.buffers = buffers
  }

  deinit {
    var pointer: OpaquePointer? = buffers
    av_buffer_pool_uninit(&pointer)
  }

  /// Returns a frame with undefined content.
  package func frame() throws(UprightError) -> VideoFrame {
    let frame = try VideoFrame()
    guard let buffer = av_buffer_pool_get(buffers) else { throw outOfMemory("frame") }
    frame.raw.pointee.format = format.raw.rawValue
    frame.raw.pointee.width = CInt(size.width)
    frame.raw.pointee.height = CInt(size.height)
    let filled = FrameMemory.put(
      frame.raw, on: buffer, format: format.raw, width: CInt(size.width),
      height: CInt(size.height), alignment: alignment)
    try check(filled) { UprightError(.fault, describe($0), at: "frame") }
    return frame
  }
}
