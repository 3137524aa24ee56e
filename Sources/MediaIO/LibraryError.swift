internal import CFFmpeg
internal import CFFmpegShims
internal import Orientation

// MARK: - Checking FFmpeg's return codes

/// Returns FFmpeg's text for an error code.
func describe(_ code: CInt) -> String {
  var buffer = [CChar](repeating: 0, count: Int(AV_ERROR_MAX_STRING_SIZE))
  av_strerror(code, &buffer, buffer.count)
  return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Returns the most specific text for an error on this thread: FFmpeg's text for the code, and the library's
/// last error line if there is one.
func explain(_ code: CInt) -> String {
  let line = String(cString: upright_log_take_error())
  return line.isEmpty ? describe(code) : "\(describe(code)) (\(line))"
}

/// Returns `result` if it isn't negative, else throws the error that `error` returns for it.
@discardableResult
func check(_ result: CInt, _ error: (CInt) -> UprightError) throws(UprightError) -> CInt {
  if result < 0 {
    var thrown = error(result)
    thrown.library = UprightError.LibraryReport(code: result, text: describe(result))
    throw thrown
  }
  return result
}

/// Returns the error for a failed allocation.
func outOfMemory(_ what: String) -> UprightError {
  UprightError(.fault, "out of memory", at: what)
}
