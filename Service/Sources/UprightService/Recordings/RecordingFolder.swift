internal import Foundation
internal import UprightPolicy

/// The files below `recordings` in the data folder, a folder for each session. What is in it counts: people may
/// add and remove files. Links aren't followed.
struct RecordingFolder: Sendable {
  let root: String

  /// A recording's file.
  struct Entry: Sendable, Hashable {
    let id: RecordingID
    /// The size in bytes.
    let size: Int
    /// The time of the last change of its content, in nanoseconds since 1970.
    let modified: Int64

    /// The time of the last change of its content.
    var date: Date { Date(timeIntervalSince1970: Double(modified) / 1e9) }
  }

  private func folder(_ session: String) -> String { "\(root)/\(session)" }
  private func path(_ id: RecordingID) -> String { "\(folder(id.session))/\(id.name)" }
  private func notePath(_ id: RecordingID) -> String {
    "\(folder(id.session))/.\(id.name)\(Self.noteSuffix)"
  }

  private static let noteSuffix = ".json"
  /// Of a note that is not complete.
  private static let newSuffix = ".json.new"

  /// The names of the sessions that have a folder.
  var sessions: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).filter(Self.isSession)
  }

  private static func isSession(_ name: String) -> Bool { AddressRules.isName(name) }

  /// Returns the names in a session's folder; none if there is no such folder.
  private func names(in session: String) -> [String] {
    guard Self.isSession(session), Self.status(folder(session), S_IFDIR) != nil else { return [] }
    return (try? FileManager.default.contentsOfDirectory(atPath: folder(session))) ?? []
  }

  /// Returns the recordings of one session, or of all, in no order. O(files).
  func entries(of session: String? = nil) -> [Entry] {
    (session.map { [$0] } ?? sessions).flatMap { session in
      names(in: session).compactMap { name in
        RecordingID(session: session, name: name).flatMap(entry)
      }
    }
  }

  /// Returns a recording's file; `nil` if there is none.
  func entry(_ id: RecordingID) -> Entry? {
    guard Self.status(folder(id.session), S_IFDIR) != nil,
      let status = Self.status(path(id), S_IFREG)
    else { return nil }
    return Entry(id: id, size: Int(status.st_size), modified: status.st_mtim.sinceEpoch)
  }

  /// Opens a recording's file; `nil` if there is none.
  func open(_ id: RecordingID, onClose: @escaping @Sendable () -> Void) -> OpenFile? {
    guard Self.status(folder(id.session), S_IFDIR) != nil else { return nil }
    return OpenFile(path(id), onClose: onClose)
  }

  /// Removes a recording and its note. Returns whether its file is gone.
  func remove(_ id: RecordingID) -> Bool {
    let isGone = unsafe unlink(path(id)) == 0 || errno == ENOENT
    if isGone { _ = unsafe unlink(notePath(id)) }
    return isGone
  }

  /// Removes notes without a file, and the folder if it is empty then.
  func tidy(_ session: String) {
    let names = Set(names(in: session))
    for note in names where note.hasPrefix(".") {
      guard let suffix = [Self.newSuffix, Self.noteSuffix].first(where: note.hasSuffix),
        !names.contains(String(note.dropFirst().dropLast(suffix.count)))
      else { continue }
      _ = unsafe unlink("\(folder(session))/\(note)")
    }
    _ = unsafe rmdir(folder(session))
  }

  /// Returns the status of a file or folder of type `type`.
  private static func status(_ path: String, _ type: mode_t) -> stat? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == type else { return nil }
    return status
  }

  // MARK: - Notes

  /// Returns the note of a recording; `nil` if there is none.
  func note(_ id: RecordingID) -> RecordingNote? {
    guard Self.status(notePath(id), S_IFREG).map({ $0.st_size <= 1 << 20 }) == true else {
      return nil
    }
    return FileManager.default.contents(atPath: notePath(id)).flatMap(RecordingNote.init)
  }

  /// Stores the note of a recording: all of it or nothing. Returns `false` if that isn't possible.
  func store(_ note: RecordingNote, of id: RecordingID) -> Bool {
    let new = "\(folder(id.session))/.\(id.name)\(Self.newSuffix)"
    return PrivateFile.replace(notePath(id), with: Data(note.json.compact.utf8), through: new)
  }
}
