internal import Glibc
package import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// A file that is read by positions, and patched in place.
package final class FilePatcher {
  let file: CInt
  private let location: String

  /// - Parameter location: The file's name in errors.
  package init(path: String, location: String, isReadOnly: Bool = false) throws(UprightError) {
    self.location = location
    file = unsafe open(path, (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC)
    if file < 0 {
      throw UprightError(
        .noInput,
        "cannot be \(isReadOnly ? "read" : "written"): \(unsafe String(cString: strerror(errno)))",
        at: location, remedy: "check the name and the permissions")
    }
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
  package func bytes(in range: Range<Int>) throws(UprightError) -> [UInt8] {
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
  package func write(_ bytes: ArraySlice<UInt8>, at place: Int) throws(UprightError) {
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

extension FilePatcher: ByteFile {
  /// The state of the file that a change of it changes too.
  package func state() throws(UprightError) -> FileState {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw failure("cannot be read") }
    return FileState(status)
  }

  package var size: Int { (try? state().size) ?? 0 }

  /// Writes everything to the disk.
  package func synchronize() throws(UprightError) {
    // Some file systems can't.
    guard fsync(file) == 0 || errno == EINVAL else { throw failure("writing failed") }
  }

  /// Sets the time of the last modification.
  package func set(modified: FileTime) throws(UprightError) {
    guard modified.set(of: file) else { throw failure("the time cannot be set") }
  }
}

/// A file's identity, and what changes with its bytes.
package struct FileState: Sendable, Hashable {
  package let inode: UInt64
  package let size: Int
  package let modified: FileTime
  package let isRegular: Bool

  fileprivate init(_ status: stat) {
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    let time = status.st_mtim
    modified = FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    isRegular = status.st_mode & S_IFMT == S_IFREG
  }

  /// Returns `nil` if there is no file at `path`.
  package init?(path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}

/// A time of a file, by the clock that can be set.
package struct FileTime: Sendable, Hashable {
  package let seconds: Int
  package let nanoseconds: Int

  package init(seconds: Int, nanoseconds: Int) {
    (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
  }

  /// Sets the time of the last modification of an open file. Returns whether that was possible.
  func set(of file: CInt) -> Bool {
    // UTIME_OMIT of sys/stat.h: the time of the last access stays.
    let access = timespec(tv_sec: 0, tv_nsec: 1 << 30 - 2)
    return unsafe futimens(file, [access, timespec(tv_sec: seconds, tv_nsec: nanoseconds)]) == 0
  }
}
