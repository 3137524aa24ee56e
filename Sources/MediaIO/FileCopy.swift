internal import CUprightFFmpegShims

/// Copies bytes from file to file inside the kernel.
package enum FileCopy {
  /// Copies up to `count` bytes between two descriptors and moves both positions on. Returns the number of bytes that
  /// were copied; 0 or less if the kernel can't copy them (`errno`).
  package static func copy(
    from source: CInt, _ position: inout Int64, to target: CInt, _ place: inout Int64, count: Int
  ) -> Int {
    upright_copy_file_range(source, &position, target, &place, count)
  }
}
