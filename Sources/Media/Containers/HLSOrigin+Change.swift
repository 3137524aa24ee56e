extension HLSOrigin {
  /// A change that a session makes of an origin in another process.
  public struct Change: Sendable, Codable {
    enum Action: Codable {
      case publish(Edition, files: [File], expired: [String])
      case remove
      case close
    }

    struct File: Codable {
      let name: String
      let count: Int
    }

    /// The contents of the new files, one after another. They are not in the coded form.
    public var bytes: [UInt8] = []
    /// The name of the playlist, or of the file to remove.
    let name: String
    let action: Action

    private enum CodingKeys: String, CodingKey { case name, action }

    init(_ action: Action, of name: String) { (self.action, self.name) = (action, name) }

    init(
      _ edition: Edition, as name: String, files: [(name: String, bytes: [UInt8])],
      expired: [String]
    ) {
      let sizes = files.map { File(name: $0.name, count: $0.bytes.count) }
      self.init(.publish(edition, files: sizes, expired: expired), of: name)
      for file in files { bytes += file.bytes }
    }
  }

  /// Makes a change that another process has sent. One that no session makes is ignored.
  public func apply(_ change: Change) {
    switch change.action {
    case .remove: remove(change.name)
    case .close: close(change.name)
    case .publish(let edition, let sizes, let expired):
      guard edition.isPlausible else { return }
      var rest = change.bytes[...]
      var files: [(name: String, bytes: [UInt8])] = []
      for file in sizes {
        guard (0...rest.count).contains(file.count) else { return }
        files.append((file.name, Array(rest.prefix(file.count))))
        rest = rest.dropFirst(file.count)
      }
      publish(edition, as: change.name, files: files, expired: expired)
    }
  }
}

extension HLSOrigin.Edition {
  /// Whether its numbers are those of a playlist, so that sums of them stay in range.
  fileprivate var isPlausible: Bool {
    let numbers = [lastSegment, lastPart?.segment ?? 0, lastPart?.index ?? 0]
    return numbers.allSatisfy { (-1...1 << 48).contains($0) }
      && (0...86_400).contains(targetDuration) && (0.001...86_400).contains(partTarget)
  }
}
