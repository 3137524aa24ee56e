internal import Crypto
internal import Foundation
internal import NIOCore
internal import Synchronization

/// The bodies of the playlists that were served last, so that players that get the same text share its compressed
/// form and its entity tag.
final class PlaylistBodies: Sendable {
  /// A playlist as it is sent.
  struct Body: Sendable {
    let plain: ByteBuffer
    /// `nil` if it could not be compressed.
    let gzip: ByteBuffer?
    /// The entity tag of `plain`, and the one of `gzip`.
    let tags: (plain: String, gzip: String)
  }

  /// By the text: signed URLs of one playlist differ from player to player.
  private let bodies = Mutex<[String: Body]>([:])
  private static let limit = 256

  /// Returns the body of a playlist.
  func body(of text: String) -> Body {
    if let body = bodies.withLock({ $0[text] }) { return body }
    let bytes = Array(text.utf8)
    let hash = Data(SHA256.hash(data: bytes).prefix(12)).base64URL
    let body = Body(
      plain: ByteBuffer(bytes: bytes),
      gzip: Gzip.compress(bytes).map { ByteBuffer(bytes: $0) },
      tags: ("\"\(hash)\"", "\"\(hash).gzip\""))
    bodies.withLock { bodies in
      if bodies.count >= Self.limit { bodies = [:] }
      bodies[text] = body
    }
    return body
  }
}
