internal import Hummingbird
internal import HTTPTypes
internal import NIOCore
internal import RotationPolicy

/// A request's context that knows its connection, so that a reader who stalls can be cut off.
struct ServiceContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }
}

extension Request {
  /// The body as JSON.
  ///
  /// - Throws: `Problem` 413 where it is longer than `limit` bytes, `PolicyError` where it is no JSON.
  func json(limit: Int) async throws -> JSONValue {
    if let length = headers[.contentLength].flatMap(Int.init), length > limit {
      throw Problem.tooLarge(limit)
    }
    var bytes: [UInt8] = []
    for try await buffer in body {
      guard bytes.count + buffer.readableBytes <= limit else { throw Problem.tooLarge(limit) }
      bytes += buffer.readableBytesView
    }
    return try JSONValue(parsing: bytes)
  }
}

extension Response {
  /// An answer of JSON, which is not to be kept.
  init(_ status: HTTPResponse.Status = .ok, json: JSONValue) {
    self.init(
      status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: .init(byteBuffer: ByteBuffer(string: json.compact)))
  }

  /// An answer of plain text.
  init(text: String, type: String = "text/plain; charset=utf-8") {
    self.init(
      status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
      body: .init(byteBuffer: ByteBuffer(string: text)))
  }
}
