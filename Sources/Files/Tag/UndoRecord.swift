internal import Glibc
internal import UprightMedia
internal import UprightOrientation
internal import UprightPolicy
internal import UprightSignals

/// The file of `--record`: two JSON objects for each file that is changed in place, a line each. The first one is on the
/// disk before a byte is changed, and has what restores the file; the second one follows when the file is complete.
final class UndoRecord {
  /// What is known of a file before it is changed.
  struct Change: Hashable {
    /// The absolute path.
    let path: String
    let inode: UInt64
    let size: Int
    let modified: FileTime
    let edits: [ByteEdit]
    /// The file that takes its name, if the edits move bytes.
    let replacement: UInt64?
  }

  private let path: String
  private let file: CInt

  /// Opens the file to append to it, and creates it if needed.
  ///
  /// - Throws: `cannotCreate` if it can't be written.
  init(_ path: String) throws(UprightError) {
    self.path = path
    let isNew = !FilePath(path).exists
    file = unsafe open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw UprightError(
        .cannotCreate, "the record cannot be written: \(unsafe String(cString: strerror(errno)))",
        at: path, remedy: "check that the folder exists and is writable")
    }
    guard isNew else { return }
    // Its name must be on the disk before a byte of a file is changed.
    let folder = unsafe open(
      FilePath(path).absolute.folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  deinit { if file >= 0 { close(file) } }

  /// Appends a change that is about to be made.
  func begin(_ change: Change) throws(UprightError) { try append(change.json) }

  /// Appends that the file at `path` was changed, and its state since then.
  func end(path: String, _ state: FileState) throws(UprightError) {
    try append([
      "file": .string(FilePath(path).absolute.path), "done": .string(state.modified.text),
    ])
  }

  /// Writes one line with a single call, so that those of several jobs don't mix, and waits until it is on the disk.
  private func append(_ value: JSONValue) throws(UprightError) {
    // A process that was killed may have left a part of a line.
    var last: UInt8 = 0
    let size = lseek(file, 0, SEEK_END)
    let isTorn = unsafe size > 0 && pread(file, &last, 1, size - 1) == 1 && last != 0x0A
    let line = Array(((isTorn ? "\n" : "") + value.compact + "\n").utf8)
    let written = unsafe line.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
    guard written == line.count, fsync(file) == 0 || errno == EINVAL else {
      throw UprightError(
        .inputOutput, "the record cannot be written: \(unsafe String(cString: strerror(errno)))",
        at: path, remedy: "check the disk; nothing was changed")
    }
  }
}

extension UndoRecord.Change {
  init(path: String, state: FileState, edits: [ByteEdit], replacement: UInt64? = nil) {
    self.path = FilePath(path).absolute.path
    (inode, size, modified) = (state.inode, state.size, state.modified)
    (self.edits, self.replacement) = (edits, replacement)
  }

  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("file", .string(path)), .init("inode", .string(String(inode))),
      .init("size", .integer(size)), .init("modified", .string(modified.text)),
    ]
    if let replacement { members.append(.init("replacement", .string(String(replacement)))) }
    let changes = edits.map { edit -> JSONValue in
      [
        "offset": .integer(edit.offset), "old": .string(Hexadecimal.text(of: edit.old)),
        "new": .string(Hexadecimal.text(of: edit.new)),
      ]
    }
    return .object(members + [.init("edits", .array(changes))])
  }

  init(_ node: JSONNode) throws(PolicyError) {
    path = try node.required("file").string()
    inode = try Self.number(node.required("inode"))
    size = try node.required("size").count(in: 0...1 << 52)
    let time = try node.required("modified")
    guard let modified = FileTime(try time.string()) else { throw time.wrongType("a time") }
    self.modified = modified
    replacement = try node.optional("replacement").map { node throws(PolicyError) in
      try Self.number(node)
    }
    var edits: [ByteEdit] = []
    for edit in try node.required("edits").elements("a list of edits") {
      edits.append(
        ByteEdit(
          at: try edit.required("offset").count(in: 0...1 << 52),
          try Self.bytes(edit.required("old")), try Self.bytes(edit.required("new"))))
    }
    self.edits = edits
  }

  private static func number(_ node: JSONNode) throws(PolicyError) -> UInt64 {
    guard let number = UInt64(try node.string()) else { throw node.wrongType("a number") }
    return number
  }

  private static func bytes(_ node: JSONNode) throws(PolicyError) -> [UInt8] {
    guard let bytes = Hexadecimal.bytes(of: try node.string()) else {
      throw node.wrongType("hexadecimal bytes")
    }
    return bytes
  }
}

extension FileTime {
  /// Seconds since 1970 with nine digits of their fraction.
  var text: String { "\(seconds).\(nanoseconds.digits(9))" }

  init?(_ text: String) {
    let parts = text.split(separator: ".")
    guard parts.count == 2, parts[1].utf8.count == 9, let whole = Int(parts[0]),
      let part = Int(parts[1]), part >= 0
    else { return nil }
    self.init(seconds: whole, nanoseconds: part)
  }
}

/// Bytes as two digits each.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(of bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  static func bytes(of text: String) -> [UInt8]? {
    let symbols = Array(text.utf8)
    guard symbols.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(symbols.count / 2)
    for index in stride(from: 0, to: symbols.count, by: 2) {
      guard let high = digits.firstIndex(of: symbols[index]),
        let low = digits.firstIndex(of: symbols[index + 1])
      else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: high << 4 | low))
    }
    return bytes
  }
}
