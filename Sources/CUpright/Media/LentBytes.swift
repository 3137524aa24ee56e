/// Bytes that are the library's, and the caller's until the next call with a handle. Used by one call at a time.
@safe final class LentBytes {
  private var bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 0)

  deinit { unsafe bytes.deallocate() }

  func keep(
    _ made: [UInt8], _ start: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
    _ length: UnsafeMutablePointer<Int>
  ) {
    unsafe bytes.deallocate()
    unsafe bytes = .allocate(capacity: made.count)
    _ = unsafe bytes.initialize(from: made)
    unsafe start.pointee = UnsafePointer(bytes.baseAddress)
    unsafe length.pointee = made.count
  }
}
