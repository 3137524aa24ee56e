internal import Glibc
internal import UprightMedia
internal import UprightMediaIO
public import UprightOrientation
internal import UprightPolicy
internal import UprightSignals

/// Restores the files that `TagSession` has changed in place, byte for byte, from their record.
public struct TagUndo: Sendable {
  /// A file, and why it wasn't restored; `nil` if it was.
  public typealias Outcome = (path: String, error: UprightError?)

  /// A change, and the time of modification that it left behind. `nil` if the process was killed before it was complete.
  private struct Entry {
    let change: UndoRecord.Change
    var done: FileTime?
  }

  private let entries: [Entry]

  /// Reads a record.
  ///
  /// - Throws: `noInput` if it can't be read, `badData` if it is no record.
  public init(record path: String) throws(UprightError) {
    guard let bytes = FilePath(path).contents else {
      throw UprightError(
        .noInput, "the record cannot be read", at: path, remedy: "check the name")
    }
    var entries: [Entry] = []
    let lines = bytes.split(separator: 0x0A)
    for (index, line) in lines.enumerated() {
      // The end of a line is missing if the process was killed while it wrote it. Nothing was changed then.
      guard let value = try? JSONValue(parsing: line) else { continue }
      do throws(PolicyError) {
        let node = JSONNode(document: value)
        if let done = try node.optional("done") {
          let file = try node.required("file").string()
          let time = FileTime(try done.string())
          if let place = entries.lastIndex(where: { $0.change.path == file }) {
            entries[place].done = time
          }
        } else {
          entries.append(Entry(change: try UndoRecord.Change(node)))
        }
      } catch {
        throw UprightError(
          .badData, "line \(index + 1) is none of a record: \(error)", at: path,
          remedy: "give the file that --record wrote")
      }
    }
    guard !entries.isEmpty else {
      throw UprightError(
        .badData, "the record has no change", at: path, remedy: "give the file that --record wrote")
    }
    self.entries = entries
  }

  /// Restores all files, the last change first. A file that was changed since then stays as it is.
  ///
  /// - Parameter observe: Called with the outcome of each change.
  public func run(_ observe: (Outcome) -> Void) {
    // The files that are as they were after an earlier change of them.
    var restored: Set<String> = []
    for entry in entries.reversed() {
      let path = entry.change.path
      do throws(UprightError) {
        try restore(entry, isVerified: restored.contains(path))
        restored.insert(path)
        observe((path, nil))
      } catch {
        restored.remove(path)
        observe((path, error))
      }
    }
  }

  private func restore(_ entry: Entry, isVerified: Bool) throws(UprightError) {
    let change = entry.change
    let file = try FilePatcher(path: change.path, location: change.path)
    let state = try file.state()
    let changed = UprightError(
      .badData, "the file was changed since it was tagged", at: change.path,
      remedy: "restore it from a copy")
    if !isVerified {
      let known = [change.inode, change.replacement].compactMap(\.self)
      guard known.contains(state.inode) else { throw changed }
    }
    if let replacement = change.replacement {
      let isOld = state.size == change.size && state.modified == change.modified
      if !isVerified, state.inode == change.inode, replacement != change.inode, isOld { return }
      return try replace(file, entry, isVerified: isVerified, otherwise: changed)
    }
    guard state.size == change.size else { throw changed }
    var isOld = true
    for edit in change.edits {
      let present = try file.bytes(in: edit.offset..<edit.offset + edit.old.count)
      // A loss of power may leave a part of an edit.
      guard present.count == edit.old.count, edit.isInPlace,
        present.indices.allSatisfy({ present[$0] == edit.old[$0] || present[$0] == edit.new[$0] })
      else { throw changed }
      if present != edit.old { isOld = false }
    }
    if isOld && state.modified == change.modified { return }
    if let done = entry.done, done != state.modified, !isVerified { throw changed }
    for edit in change.edits { try file.write(edit.old[...], at: edit.offset) }
    try file.set(modified: change.modified)
    try file.synchronize()
  }

  /// Restores a file whose bytes were moved.
  private func replace(
    _ file: FilePatcher, _ entry: Entry, isVerified: Bool, otherwise changed: UprightError
  ) throws(UprightError) {
    let state = try file.state()
    if let done = entry.done, done != state.modified, !isVerified { throw changed }
    var shift = 0
    var reversed: [ByteEdit] = []
    for edit in entry.change.edits {
      let back = edit.reversed(movedBy: shift)
      let end = back.offset.addingReportingOverflow(edit.new.count)
      guard back.offset >= 0, !end.overflow,
        try file.bytes(in: back.offset..<end.partialValue) == edit.new
      else { throw changed }
      reversed.append(back)
      shift += edit.new.count - edit.old.count
    }
    guard state.size == entry.change.size + shift else { throw changed }
    let staged = try StagedFile(path: entry.change.path)
    try staged.fill(from: file, reversed, interrupt: Interrupt())
    try staged.copyAttributes(of: file)
    try staged.set(modified: entry.change.modified)
    try staged.synchronize()
    try staged.commit()
  }
}
