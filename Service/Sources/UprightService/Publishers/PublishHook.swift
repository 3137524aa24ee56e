internal import Foundation
internal import UprightPolicy

/// A URL that decides which publishers may publish, and may answer with the body of their sessions.
struct PublishHook: Sendable {
  let receiver: WebhookReceiver
  /// The timeout for the whole request, in seconds.
  let timeout: Double

  /// The range of the timeout, in seconds.
  static let timeouts = 0.1...60.0
  /// The maximum size of an answer, in bytes.
  private static let answerLimit = 256 << 10

  /// Reads `{"url", "secret", "timeout"}`.
  ///
  /// - Throws: `Problem` 400 if the JSON has the wrong form, `Refusal` if the URL isn't allowed.
  init(_ value: JSONValue, rules: AddressRules) throws {
    let members = try SessionRequest.members(
      of: value, "publish hook", allowing: ["url", "secret", "timeout"])
    receiver = try WebhookReceiver(members, "publish hook", rules: rules)
    guard let given = members["timeout"] else {
      timeout = 5
      return
    }
    guard let seconds = given.double, Self.timeouts.contains(seconds) else {
      throw Problem.badRequest("publish hook: timeout must be 0.1 to 60 seconds")
    }
    timeout = seconds
  }

  /// Asks whether a publisher may publish. Ends when the task is cancelled.
  ///
  /// - Returns: The members that the answer gives for the session; empty if it has no body.
  /// - Throws: `RequestFailure` with the reason if the publisher is refused, or the answer can't be used.
  func ask(
    about request: PublishRequest, _ client: WebhookClient
  ) async throws(RequestFailure) -> [JSONValue.Member] {
    let body: JSONValue = [
      "name": .string(request.name), "app": .string(request.app), "key": .string(request.key),
      "address": .string(request.address), "protocol": .string(request.scheme.rawValue),
    ]
    let answer = try await inTime { () async throws(RequestFailure) in
      try await client.post(
        body.compact, id: UUID().uuidString.lowercased(), to: receiver, reading: Self.answerLimit)
    }
    guard (200..<300).contains(answer.status) else {
      throw .init(reason: "it answered \(answer.status)")
    }
    if answer.body.isEmpty { return [] }
    guard case .object(let members)? = try? JSONValue(parsing: answer.body) else {
      throw .init(reason: "its answer isn't a JSON object")
    }
    return members
  }

  /// Returns the result of `body`, which is cancelled when the timeout expires.
  private func inTime(
    _ body: @escaping @Sendable () async throws(RequestFailure) -> WebhookClient.Answer
  ) async throws(RequestFailure) -> WebhookClient.Answer {
    let timeout = timeout
    let result = await withTaskGroup(of: Result<WebhookClient.Answer, RequestFailure>.self) {
      group in
      group.addTask {
        do throws(RequestFailure) { return .success(try await body()) } catch {
          return .failure(error)
        }
      }
      group.addTask {
        // Cancelled if the request ends first, or with the publisher.
        let isOver = (try? await Task.sleep(for: .seconds(timeout))) != nil
        return .failure(
          .init(reason: isOver ? "it didn't answer within \(timeout) s" : "the publisher has left"))
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(.init(reason: "cancelled"))
    }
    return try result.get()
  }
}
