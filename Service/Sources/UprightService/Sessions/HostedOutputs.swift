internal import Foundation
internal import UprightPolicy
internal import Synchronization
internal import Upright

/// The outputs of a session as they were requested, by id. The session itself knows their states.
final class HostedOutputs: Sendable {
  private let entries = Mutex<[String: SessionRequest.Output]>([:])
  private let session: String
  /// The address of the HLS output's playlist in an origin; `nil` if the service itself has it.
  private let hls: String?

  /// Who plays the HLS output; `nil` if an origin serves it.
  let viewers: Viewers?

  /// - Parameters:
  ///   - session: The name of the session.
  ///   - hls: The address of the HLS output's playlist in an origin.
  ///   - segment: The duration of a segment of HLS, in seconds; `nil` for the default.
  init(session: String, hls: String? = nil, segment: Double? = nil) {
    self.session = session
    self.hls = hls
    viewers = hls == nil ? Viewers(segment: segment ?? 2) : nil
  }

  /// Adds an output and returns its id: `id`, or the first of `hls`, `hls-2` and so on that is free.
  ///
  /// - Throws: `Problem` 409 if the output or the id is in use, 429 if there are too many outputs.
  func reserve(_ output: SessionRequest.Output, id: String?) throws(Problem) -> String {
    let result: Result<String, Problem> = entries.withLock { entries in
      if let used = entries.first(where: { $0.value == output }) {
        return .failure(.conflict("the session has this output already, as \(used.key)"))
      }
      if let id, entries[id] != nil {
        return .failure(.conflict("the session has an output \(id) already"))
      }
      guard entries.count < SessionRequest.maxOutputs else {
        return .failure(.tooMany("the session has \(entries.count) outputs; remove one first"))
      }
      let type = output.type
      var (free, number) = (type, 1)
      while id == nil, entries[free] != nil {
        number += 1
        free = "\(type)-\(number)"
      }
      entries[id ?? free] = output
      return .success(id ?? free)
    }
    return try result.get()
  }

  /// Removes an output.
  func release(_ id: String) { entries.withLock { _ = $0.removeValue(forKey: id) } }

  /// Returns where an output goes, without secrets.
  private func place(
    of output: SessionRequest.Output, at address: PublicURL
  ) -> JSONValue.Member {
    switch output {
    case .hls: .init("url", .string(hls ?? address.of("/live/\(session)/index.m3u8")))
    case .push(let url): .init("url", .string(url.redacted))
    case .file(let name, _): .init("name", .string(name))
    }
  }

  /// Returns the JSON of an output, with URLs of the service at `address`.
  func json(
    _ status: LiveOutputStatus, _ secrets: Secrets, at address: PublicURL
  ) -> JSONValue {
    let entry = entries.withLock { $0[status.id] }
    var members: [JSONValue.Member] = [.init("id", .string(status.id))]
    if let entry { members.append(.init("type", .string(entry.type))) }
    let file = status.recording.map { URL(fileURLWithPath: $0.path).lastPathComponent }
    if let file, let id = RecordingID(session: session, name: file) {
      members += [.init("name", .string(file)), .init("recording", .string("\(id)"))]
    } else if let entry {
      members.append(place(of: entry, at: address))
    }
    members += [
      .init("state", .string(status.state.rawValue)),
      .init("problem", status.reason.map { .string(secrets.redact($0)) } ?? .null),
      .init("frames", .integer(status.frames)), .init("bytes", .integer(status.bytes)),
      .init("dropped", .integer(status.dropped)), .init("failures", .integer(status.failures)),
      .init("reconnects", .integer(status.reconnects)),
    ]
    if entry == .hls, let viewers {
      members.append(.init("viewers", .integer(viewers.count())))
    }
    return .object(members)
  }
}

extension SessionRequest.Output {
  /// The type in the API.
  var type: String {
    switch self {
    case .hls: "hls"
    case .push(let url): url.scheme
    case .file: "file"
    }
  }
}
