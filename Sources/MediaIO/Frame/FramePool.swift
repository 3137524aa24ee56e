internal import CFFmpeg
package import Orientation

/// Blank frames of one size and format whose memory is used again once every reference is gone.
///
/// One thread takes frames; they may be released on any.
package final class FramePool {
  package let size: PixelSize
  package let format: PixelFormat
  private let buffers: OpaquePointer

  /// 64-byte aligned rows suit every kernel and libswscale.
  private static let alignment: CInt = 64

  package init(size: PixelSize, format: PixelFormat) throws(MediaError) {
    self.size = size
    self.format = format
    let bytes = av_image_get_buffer_size(
      format.raw, CInt(clamping: size.width), CInt(clamping: size.height), Self.alignment)
    guard bytes > 0 else {
      throw MediaError(.usage, "no picture can be \(size) in \(format)")
    }
    // Vector code may read a row's last block whole: 64 spare bytes keep that inside the buffer.
    guard let buffers = av_buffer_pool_init(Int(bytes) + 64, FrameMemory.allocate) else {
      throw outOfMemory("frame pool")
    }
    self.buffers = buffers
  }

  deinit {
    var pointer: OpaquePointer? = buffers
    av_buffer_pool_uninit(&pointer)
  }

  /// A frame whose content is undefined.
  package func frame() throws(MediaError) -> VideoFrame {
    let frame = try VideoFrame()
    guard let buffer = av_buffer_pool_get(buffers) else { throw outOfMemory("frame") }
    frame.raw.pointee.format = format.raw.rawValue
    frame.raw.pointee.width = CInt(size.width)
    frame.raw.pointee.height = CInt(size.height)
    let filled = FrameMemory.put(
      frame.raw, on: buffer, format: format.raw, width: CInt(size.width),
      height: CInt(size.height), alignment: Self.alignment)
    try check(filled) { MediaError(.fault, describe($0), at: "frame") }
    return frame
  }
}
