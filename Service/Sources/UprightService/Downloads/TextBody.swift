internal import Upright
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// A text as it is sent: plain, or compressed for clients that accept that.
struct TextBody: Sendable {
  let plain: ByteBuffer
  /// `nil` if it could not be compressed.
  let gzip: ByteBuffer?
  /// The entity tag of `plain`, and the one of `gzip`.
  let tags: (plain: String, gzip: String)

  init(_ bytes: [UInt8]) {
    let hash = Self.hash(of: bytes)
    plain = ByteBuffer(bytes: bytes)
    gzip = Gzip.compress(bytes).map { ByteBuffer(bytes: $0) }
    tags = ("\"\(hash)\"", "\"\(hash).gzip\"")
  }

  /// The entity tag of bytes.
  static func tag(of bytes: [UInt8]) -> String { "\"\(hash(of: bytes))\"" }

  private static func hash(of bytes: [UInt8]) -> String {
    Data(MessageDigest.sha256(bytes).prefix(12)).base64URL
  }

  /// Returns the response to a GET or HEAD request.
  func response(to request: Request, _ headers: HTTPFields) -> Response {
    var headers = headers
    headers[.vary] = "Accept-Encoding"
    var (bytes, tag) = (plain, tags.plain)
    // A client that asks for a range of a text doesn't expect a part of a compressed one.
    if request.headers[.range] == nil, Gzip.isAccepted(request.headers[.acceptEncoding]),
      let gzip
    {
      headers[.contentEncoding] = "gzip"
      (bytes, tag) = (gzip, tags.gzip)
    }
    return ServedContent(bytes, tag: tag).response(to: request, headers)
  }
}

/// The playlists that were served last, so that players that get the same text share its compressed form and its
/// entity tag.
final class PlaylistBodies: Sendable {
  private struct State {
    /// By the text: signed URLs of one playlist differ from player to player.
    var bodies: [String: TextBody] = [:]
    /// The one that was served last: comparing a text with itself is cheaper than finding it.
    var last: (text: String, body: TextBody)?

    mutating func body(of text: String) -> TextBody? {
      if let last, last.text == text { return last.body }
      guard let body = bodies[text] else { return nil }
      last = (text, body)
      return body
    }

    mutating func add(_ body: TextBody, of text: String) {
      if bodies.count >= PlaylistBodies.limit { bodies = [:] }
      bodies[text] = body
      last = (text, body)
    }
  }

  private let state = Mutex(State())
  private static let limit = 256

  /// Returns the body of a playlist.
  func body(of text: String) -> TextBody {
    if let known = state.withLock({ $0.body(of: text) }) { return known }
    let body = TextBody(Array(text.utf8))
    state.withLock { $0.add(body, of: text) }
    return body
  }
}
