internal import Glibc
package import UprightOrientation
package import UprightSignals
package import UprightMediaIO

extension StagedFile {
  /// `FICLONE` of linux/fs.h: the file gets the blocks of another one, until one of them is changed.
  private static let clone: UInt = 0x4004_9409
  /// The bytes that are copied between two looks at the interrupt.
  private static let step = 64 << 20

  /// Fills the file with the bytes of `source`, changed by `edits`.
  ///
  /// - Parameter edits: Edits of the source in the order of their offsets, none of which overlap.
  /// - Throws: `cancelled` if interrupted.
  package func fill(
    from source: FilePatcher, _ edits: [ByteEdit], interrupt: Interrupt
  ) throws(UprightError) {
    let size = try source.state().size
    if edits.allSatisfy(\.isInPlace), ioctl(descriptor, Self.clone, source.file) == 0 {
      for edit in edits { try write(edit.new, at: edit.offset) }
      return
    }
    var (read, written) = (0, 0)
    for edit in edits {
      try copy(read..<edit.offset, of: source, to: written, interrupt)
      written += edit.offset - read
      try write(edit.new, at: written)
      written += edit.new.count
      read = edit.offset + edit.old.count
    }
    try copy(read..<size, of: source, to: written, interrupt)
  }

  /// Copies a range without reading it into memory where the system can.
  private func copy(
    _ range: Range<Int>, of source: FilePatcher, to place: Int, _ interrupt: Interrupt
  ) throws(UprightError) {
    var (read, written) = (Int64(range.lowerBound), Int64(place))
    while read < Int64(range.upperBound) {
      if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: path) }
      let rest = min(range.upperBound - Int(read), Self.step)
      let count = FileCopy.copy(
        from: source.file, &read, to: descriptor, &written, count: rest)
      if count > 0 || (count < 0 && errno == EINTR) { continue }
      // Not possible between these file systems.
      let bytes = try source.bytes(in: Int(read)..<Int(read) + min(rest, 1 << 20))
      guard !bytes.isEmpty else {
        throw UprightError(
          .inputOutput, "the input became shorter while it was copied", at: path,
          remedy: "run it again")
      }
      try write(bytes, at: Int(written))
      read += Int64(bytes.count)
      written += Int64(bytes.count)
    }
  }

  private func write(_ bytes: [UInt8], at place: Int) throws(UprightError) {
    var rest = bytes[...]
    var place = place
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(place))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw failure("writing failed") }
      rest = rest.dropFirst(count)
      place += count
    }
  }

  /// Gives the file the permissions and the owner of the file that it replaces.
  package func copyAttributes(of source: FilePatcher) throws(UprightError) {
    var status = stat()
    guard unsafe fstat(source.file, &status) == 0, fchmod(descriptor, status.st_mode & 0o7777) == 0
    else {
      throw failure("the permissions cannot be set")
    }
    // Only root may give a file away.
    _ = fchown(descriptor, status.st_uid, status.st_gid)
  }

  /// Sets the time of the last modification.
  package func set(modified: FileTime) throws(UprightError) {
    guard modified.set(of: descriptor) else { throw failure("the time cannot be set") }
  }

  /// Writes everything to the disk.
  package func synchronize() throws(UprightError) {
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("writing failed") }
  }

  /// The state of the file as it is now, under its temporary name.
  package var state: FileState? { FileState(path: temporaryPath) }
}
