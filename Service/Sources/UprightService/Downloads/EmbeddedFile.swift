internal import CUprightConsole

extension upright_console_file {
  /// The bytes of the file.
  @unsafe var content: [UInt8] { unsafe Array(UnsafeBufferPointer(start: bytes, count: size)) }
}
