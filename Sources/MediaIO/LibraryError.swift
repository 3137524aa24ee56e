internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

// MARK: - Checking FFmpeg's return codes

/// Returns FFmpeg's text for an error code.
func describe(_ code: CInt) -> String {
  var buffer = [CChar](repeating: 0, count: Int(AV_ERROR_MAX_STRING_SIZE))
  av_strerror(code, &buffer, buffer.count)
  return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Returns the most specific text for an error on this thread: FFmpeg's text for the code, and the library's
/// last error line if the host has installed a log. It is for people; nothing is decided by it.
func explain(_ code: CInt) -> String {
  let line = String(cString: upright_log_take_error())
  return line.isEmpty ? describe(code) : "\(describe(code)) (\(line))"
}

/// Returns `result` if it isn't negative, else throws the error that `error` returns for it.
@discardableResult
func check(_ result: CInt, _ error: (CInt) -> UprightError) throws(UprightError) -> CInt {
  if result < 0 {
    throw error(result).reporting(result)
  }
  return result
}

extension UprightError {
  /// Returns this error with an FFmpeg library's code and its text.
  func reporting(_ code: CInt) -> UprightError {
    var error = self
    error.library = LibraryReport(code: code, text: describe(code))
    return error
  }
}

/// Returns the error for a failed allocation.
func outOfMemory(_ what: String) -> UprightError {
  UprightError(.fault, "out of memory", at: what)
}
