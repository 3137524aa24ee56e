internal import Foundation
internal import NIOHTTP1
internal import UprightOrientation
internal import Synchronization
internal import Upright

/// The files of an HLS output in an HTTP origin.
///
/// Segments are PUT under names that nobody else uses, so an attempt can be repeated, and the segments of a writer that
/// was superseded harm nothing. A playlist is PUT only if the origin still has the version that this writer knows
/// (`If-Match`; RFC 9110, 13.1.1), so of two writers one fails. It fails for good if the other one has a higher epoch.
final class OriginStore: HLSStore {
  /// How long a call may take.
  struct Limits: Sendable {
    /// The time after which a call that has failed isn't repeated.
    var attempts = Duration.seconds(3)
    /// The delays between attempts: the first, and the longest.
    var delay = (first: 0.05, last: 0.5)
  }

  private struct State {
    /// The tag of the version of each playlist that this writer has written last.
    var tags: [String: String] = [:]
    /// Whether the origin has refused a wrong tag.
    var isChecked = false
    /// The files that couldn't be removed.
    var left: [String] = []
  }

  private let client: OriginClient
  private let folder: String
  private let mark: WriterMark
  private let limits: Limits
  private let state = Mutex(State())
  private let calls = AbandonableCalls()

  /// The number of files that are tried to be removed again.
  private static let mostLeft = 1000

  /// - Parameters:
  ///   - session: The name of the session, which is a folder of the origin.
  ///   - mark: The same for all stores of a session.
  init(_ client: OriginClient, session: String, mark: WriterMark, limits: Limits = Limits()) {
    self.client = client
    self.mark = mark
    self.limits = limits
    folder = session
  }

  var address: String { Self.address(client, folder) }

  /// Returns the address of a session's playlist.
  static func address(_ client: OriginClient, _ session: String) -> String {
    "\(client.base)/\(session)/index.m3u8"
  }

  func abandon() { calls.abandon() }

  // MARK: - Segments

  func save(_ bytes: [UInt8], as name: String) throws(UprightError) {
    let type = MediaTypes.byExtension[(name as NSString).pathExtension]
    let answer = try persistently { [client, folder] () async throws(RequestFailure) in
      try await client.send(.PUT, "\(folder)/\(name)", body: bytes, type: type)
    }
    guard answer.isSuccess else { throw failure("the origin answered \(answer.status)", name) }
  }

  func remove(_ name: String) {
    let files = state.withLock { state in
      defer { state.left = [] }
      return state.left + [name]
    }
    for (index, file) in files.enumerated() {
      let answer = calls.result { [client, folder] () async throws(RequestFailure) in
        try await client.send(.DELETE, "\(folder)/\(file)")
      }
      if case .success(let answer)? = answer, answer.status < 500 { continue }
      // An origin that is away isn't asked again for each file.
      state.withLock { $0.left = Array(files[index...].suffix(Self.mostLeft)) }
      return
    }
  }

  // MARK: - Playlists

  func claim(_ name: String, _ make: (String?) -> String) throws(UprightError) {
    // Each turn but the last is one in which an earlier writer has published.
    for _ in 0..<10 {
      let (earlier, tag) = try read(name)
      try check(earlier, name)
      let text = mark.added(to: make(earlier))
      guard let tag = try put(text, name, if: tag.map { .tag($0) } ?? .absent) else { continue }
      state.withLock { $0.tags[name] = tag }
      return try checkConditions(text, name)
    }
    throw failure("the playlist is changed all the time", name)
  }

  func publish(_ text: String, as name: String) throws(UprightError) {
    guard let known = state.withLock({ $0.tags.removeValue(forKey: name) }) else {
      throw failure("the playlist's version isn't known", name)
    }
    guard let tag = try put(mark.added(to: text), name, if: .tag(known)) else {
      try check(read(name).text, name)
      throw failure("another writer has changed the playlist", name)
    }
    state.withLock { $0.tags[name] = tag }
  }

  /// - Throws: `superseded` if the playlist is that of a later owner, or of another one of the same epoch.
  private func check(_ text: String?, _ name: String) throws(UprightError) {
    guard let other = text.flatMap(WriterMark.init), other.epoch >= mark.epoch, other != mark else {
      return
    }
    throw UprightError(
      .superseded,
      other.epoch > mark.epoch
        ? "the session has moved: epoch \(other.epoch) follows epoch \(mark.epoch)"
        : "another writer has epoch \(mark.epoch)", at: address(of: name),
      remedy: "create the session with a higher epoch")
  }

  /// Returns the playlist and its tag; `nil` if there is none.
  private func read(_ name: String) throws(UprightError) -> (text: String?, tag: String?) {
    let answer = try persistently { [client, folder] () async throws(RequestFailure) in
      try await client.send(.GET, "\(folder)/\(name)")
    }
    if answer.status == 404 || answer.status == 410 { return (nil, nil) }
    guard answer.isSuccess else { throw failure("the origin answered \(answer.status)", name) }
    guard let tag = answer.tag, !tag.hasPrefix("W/") else {
      throw failure("the origin gives no strong ETag", name)
    }
    return (String(decoding: answer.body, as: UTF8.self), tag)
  }

  /// Writes a playlist if the condition holds. Returns the tag of the new version, or `nil` if the condition didn't
  /// hold.
  private func put(
    _ text: String, _ name: String, if condition: OriginClient.Condition
  ) throws(UprightError) -> String? {
    let answer = try persistently { [client, folder] () async throws(RequestFailure) in
      try await client.send(
        .PUT, "\(folder)/\(name)", body: Array(text.utf8), type: MediaTypes.byExtension["m3u8"],
        if: condition)
    }
    if answer.isSuccess, let tag = answer.tag, !tag.hasPrefix("W/") { return tag }
    guard answer.isSuccess || [404, 409, 412].contains(answer.status) else {
      throw failure("the origin answered \(answer.status)", name)
    }
    // Either the answer has no tag, or an attempt whose answer was lost has succeeded, or another writer was first.
    let present = try read(name)
    return present.text == text ? present.tag : nil
  }

  /// Writes the playlist again with a tag that it can't have. An origin that does so would let two writers mix.
  private func checkConditions(_ text: String, _ name: String) throws(UprightError) {
    guard !state.withLock({ $0.isChecked }) else { return }
    let answer = try persistently { [client, folder] () async throws(RequestFailure) in
      try await client.send(
        .PUT, "\(folder)/\(name)", body: Array(text.utf8), type: MediaTypes.byExtension["m3u8"],
        if: .tag("\"not-a-version\""))
    }
    guard [409, 412].contains(answer.status) else {
      throw UprightError(
        answer.isSuccess ? .unavailable : .inputOutput,
        "the origin doesn't honor If-Match: it answered \(answer.status)", at: address(of: name),
        remedy: "use an origin with conditional requests (RFC 9110, 13)")
    }
    state.withLock { $0.isChecked = true }
  }

  // MARK: - Requests

  private func address(of name: String) -> String { "\(client.base)/\(folder)/\(name)" }

  private func failure(_ message: String, _ name: String) -> UprightError {
    UprightError(.inputOutput, message, at: address(of: name), remedy: "check the origin")
  }

  /// Sends a request until it has an answer that isn't a failure of the origin, or the time for attempts is over.
  private func persistently(
    _ send: @escaping @Sendable () async throws(RequestFailure) -> OriginClient.Answer
  ) throws(UprightError) -> OriginClient.Answer {
    let end = ContinuousClock.now + limits.attempts
    var delay = limits.delay.first
    while true {
      let reason: String
      switch calls.result(send) {
      case nil: throw UprightError(.cancelled, "the output was closed", at: address)
      case .success(let answer)?:
        guard answer.status >= 500 || [408, 425, 429].contains(answer.status) else { return answer }
        reason = "the origin answered \(answer.status)"
      case .failure(let failure)?: reason = failure.reason
      }
      guard ContinuousClock.now < end, calls.pause(delay) else {
        throw UprightError(.inputOutput, reason, at: address, remedy: "check the origin")
      }
      delay = min(delay * 2, limits.delay.last)
    }
  }
}
