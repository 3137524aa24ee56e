internal import Glibc
internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// A written file that is patched in place.
final class FilePatcher {
  private let file: CInt
  private let location: String

  init(path: String, location: String) throws(UprightError) {
    self.location = location
    file = unsafe open(path, O_RDWR | O_CLOEXEC)
    if file < 0 { throw failure("cannot be read") }
  }

  deinit { if file >= 0 { close(file) } }

  private func failure(_ what: String) -> UprightError {
    UprightError(
      .inputOutput, "\(what): \(unsafe String(cString: strerror(errno)))", at: location,
      remedy: "check the disk")
  }

  /// Returns the position of the index (`moov`); `nil` if it isn't before the media.
  func indexRange() throws(UprightError) -> Range<Int>? {
    var place = 0
    while let box = try box(at: place), box.type != "mdat" {
      if box.type == "moov" { return box.whole }
      place = box.whole.upperBound
    }
    return nil
  }

  /// Returns the box at `place`; `nil` at the end of the file, and if the box has no valid size.
  func box(at place: Int) throws(UprightError) -> MP4Box? {
    let box = MP4Box(header: try bytes(in: place..<place + 16), at: place)
    return box?.isComplete == true ? box : nil
  }

  /// Truncates the file at `place`.
  func truncate(at place: Int) throws(UprightError) {
    if ftruncate(file, off_t(place)) != 0 { throw failure("writing failed") }
  }

  /// Reads the bytes in `range`, fewer at the end of the file.
  func bytes(in range: Range<Int>) throws(UprightError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    var count = 0
    while count < range.count {
      let result = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe pread(
          file, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count,
          off_t(range.lowerBound + count))
      }
      if result < 0 {
        if errno == EINTR { continue }
        throw failure("cannot be read")
      }
      if result == 0 { break }
      count += result
    }
    return Array(bytes.prefix(count))
  }

  /// Replaces `range` with `new`, which is at least as long. The rest of the file is shifted.
  func replace(_ range: Range<Int>, with new: [UInt8]) throws(UprightError) {
    // The bytes to be written always have the length of the bytes that were read ahead.
    var waiting = new[...]
    var (read, written) = (range.upperBound, range.lowerBound)
    while true {
      let next = try bytes(in: read..<read + (1 << 20))
      read += next.count
      if next.isEmpty {
        try write(waiting, at: written)
        return
      }
      let room = read - written
      try write(waiting.prefix(room), at: written)
      written += min(room, waiting.count)
      waiting = (waiting.dropFirst(room) + next)[...]
    }
  }

  /// Overwrites the bytes at `place`.
  func write(_ bytes: ArraySlice<UInt8>, at place: Int) throws(UprightError) {
    var count = 0
    while count < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(
          file, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count,
          off_t(place + count))
      }
      if result < 0 {
        if errno == EINTR { continue }
        throw failure("writing failed")
      }
      count += result
    }
  }
}
