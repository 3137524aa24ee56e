internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import UprightPolicy

/// A request context with the connection's channel, which allows closing the connection of a client that
/// doesn't read.
struct ServiceContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel
  /// The address for absolute URLs in the response.
  var address = PublicURL.relative

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }
}

extension Sessions {
  /// Returns the session that the path of a request names.
  ///
  /// - Throws: `Problem` 404 if there is none.
  func find(_ context: ServiceContext) throws -> HostedSession {
    try find(context.parameters.require("id"))
  }
}

extension Request {
  /// Returns the member `seconds` of the body, which has no other.
  ///
  /// - Throws: `Problem` 400 if it isn't an integer from 1 to `longest`, and what `json` throws.
  func seconds(upTo longest: Int, bodyLimit: Int) async throws -> Int {
    let members = try SessionRequest.members(
      of: await json(limit: bodyLimit), "request", allowing: ["seconds"])
    guard let seconds = members["seconds"]?.integer, (1...longest).contains(seconds) else {
      throw Problem.badRequest("seconds: must be an integer from 1 to \(longest)")
    }
    return seconds
  }

  /// Returns the body as JSON.
  ///
  /// - Throws: `Problem` 413 if it is longer than `limit` bytes, `PolicyError` if it isn't valid JSON.
  func json(limit: Int) async throws -> JSONValue {
    try JSONValue(parsing: await bytes(limit: limit))
  }

  /// Returns the body.
  ///
  /// - Throws: `Problem` 413 if it is longer than `limit` bytes.
  func bytes(limit: Int) async throws -> [UInt8] {
    if let length = headers[.contentLength].flatMap(Int.init), length > limit {
      throw Problem.tooLarge(limit)
    }
    var bytes: [UInt8] = []
    for try await buffer in body {
      guard bytes.count + buffer.readableBytes <= limit else { throw Problem.tooLarge(limit) }
      bytes += buffer.readableBytesView
    }
    return bytes
  }
}

extension Response {
  /// Creates a JSON response that must not be cached.
  init(_ status: HTTPResponse.Status = .ok, json: JSONValue) {
    self.init(
      status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: .init(byteBuffer: ByteBuffer(string: json.compact)))
  }

  /// Creates a text response that must not be cached.
  init(text: String, type: String = "text/plain; charset=utf-8") {
    self.init(
      status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
      body: .init(byteBuffer: ByteBuffer(string: text)))
  }
}
