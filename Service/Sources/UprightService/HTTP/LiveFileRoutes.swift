internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Upright

/// `GET /live/{id}/...`: playlists and segments, without a token and for pages of any origin. A protected session
/// needs a signed URL, `/live/{id}/~{signature}/...`.
struct LiveFileRoutes: Sendable {
  let sessions: Sessions
  let folders: DataFolders
  let keys: PlaybackKeys
  let blocked: BlockedRequests
  private let bodies = PlaylistBodies()

  init(
    sessions: Sessions, folders: DataFolders, keys: PlaybackKeys, blocked: BlockedRequests
  ) {
    self.sessions = sessions
    self.folders = folders
    self.keys = keys
    self.blocked = blocked
  }

  /// Returns whether a session of that name writes its playlist here. The one of a session with an epoch is in the
  /// HTTP origin.
  private func isRunning(_ id: String) -> Bool {
    let session = try? sessions.find(id)
    return session?.hasEnded == false && session?.epoch == nil
  }

  /// Returns whether a file was written before the session of that name, which runs, was created.
  private func isOlder(_ path: String, than id: String) -> Bool {
    guard let session = try? sessions.find(id), !session.hasEnded,
      let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let written = attributes[.modificationDate] as? Date
    else { return false }
    return written.timeIntervalSince1970 < session.created
  }

  /// Returns the playlists and parts of a session with low latency.
  private func origin(_ id: String) -> HLSOrigin? { (try? sessions.find(id))?.origin }

  /// The time for which a segment may be cached, in seconds: a year.
  static let longestAge = 31_536_000

  func add(to router: Router<ServiceContext>) {
    router.get("/live/:id/:name") { request, context in
      guard try sessions.playback(of: context.parameters.require("id")) == .open else {
        throw Problem.forbidden("this session needs a signed URL")
      }
      let response = try await file(request, context, age: Self.longestAge)
      try note(request, context)
      return response
    }
    router.get("/live/:id/~{signature}/:name") { request, context in
      let signature = try context.parameters.require("signature")
      let left = try keys.check(
        signature[...], of: "/live/" + context.parameters.require("id"))
      // A cache must not give the file to anyone for longer than the URL is valid.
      let response = try await file(request, context, age: min(left, Self.longestAge))
      try note(request, context, signature: signature)
      return response
    }
    for path in ["/live/:id/:name", "/live/:id/~{signature}/:name"] as [RouterPath] {
      router.on(path, method: .options) { _, _ in
        Response(status: .noContent, headers: Self.preflight)
      }
    }
  }

  /// Counts the client of a request among the viewers of its session.
  private func note(
    _ request: Request, _ context: ServiceContext, signature: String = ""
  ) throws {
    guard request.method == .get,
      let viewers = try? sessions.find(context.parameters.require("id")).outputs.viewers
    else { return }
    var hasher = Hasher()
    hasher.combine(IPAddress.peer(of: context.channel.remoteAddress))
    hasher.combine(request.headers[.userAgent])
    hasher.combine(signature)
    viewers.note(hasher.finalize())
  }

  /// The headers that allow pages of any origin to read a response.
  static let crossOrigin: HTTPFields = [
    .accessControlAllowOrigin: "*",
    .accessControlExposeHeaders: "Content-Length, Content-Range, Accept-Ranges, Retry-After",
  ]

  /// The headers that answer a preflight request (Fetch, 3.3).
  static var preflight: HTTPFields {
    var headers = crossOrigin
    headers[.accessControlAllowMethods] = "GET, HEAD"
    headers[.accessControlAllowHeaders] = "Range"
    headers[.accessControlMaxAge] = "86400"
    return headers
  }

  /// - Parameter age: The longest time for which the file may be cached, in seconds.
  private func file(
    _ request: Request, _ context: ServiceContext, age: Int
  ) async throws -> Response {
    let id = try context.parameters.require("id")
    let name = try context.parameters.require("name")
    let missing = Problem.notFound("there is no such file")
    guard AddressRules.isName(id), AddressRules.isName(name),
      let type = MediaTypes.byExtension[(name as NSString).pathExtension]
    else { throw missing }
    let path = "\(folders.root)/live/\(id)/\(name)"
    var headers = Self.crossOrigin
    headers[.contentType] = type
    if name.hasSuffix(".m3u8") {
      // Directives for a playlist without parts are ignored, but must be right.
      let directives: DeliveryDirectives
      do { directives = try DeliveryDirectives(request.uri.query) } catch {
        throw Problem.badRequest(error.reason)
      }
      if let answer = try await lowLatency(id, name, directives) {
        headers[.cacheControl] = "public, max-age=\(min(age, answer.maxAge))"
        return bodies.body(of: answer.text).response(to: request, headers)
      }
      let early = Problem(
        .serviceUnavailable, "Not ready", "the first segment isn't complete yet", retryAfter: 1)
      let isOlder = isOlder(path, than: id)
      // The playlist of an earlier run isn't what a player that waits has asked for.
      let awaits = directives.segment != nil && origin(id) != nil && isRunning(id)
      // The playlist may be replaced at any time. Reading it through one handle gives a consistent version.
      guard let data = FileManager.default.contents(atPath: path) else {
        if awaits { throw Self.late }
        throw name == "index.m3u8" && isRunning(id) ? early : missing
      }
      let text = String(decoding: data, as: UTF8.self)
      // Players would stop for good at the end of the session before.
      if isOlder, text.hasSuffix(Self.end) { throw early }
      if awaits, !text.contains("#EXT-X-STREAM-INF") { throw Self.late }
      headers[.cacheControl] = "no-cache"
      return bodies.body(of: openEnded(text, id)).response(to: request, headers)
    }
    headers[.cacheControl] = "public, max-age=\(age), immutable"
    if let origin = origin(id) {
      let found = try await blocked.wait(for: id) { await origin.file(name) }
      if let found { return found.content.response(to: request, headers) }
    }
    guard let file = OpenFile(path) else { throw missing }
    return file.response(to: request, headers)
  }

  /// Returns a playlist with parts, or `nil` if the session has none of that name in memory.
  ///
  /// - Throws: `Problem` 400 for wrong delivery directives, 503 if what they ask for doesn't come in time.
  private func lowLatency(
    _ id: String, _ name: String, _ directives: DeliveryDirectives
  ) async throws(Problem) -> (text: String, maxAge: Int)? {
    guard let origin = origin(id) else { return nil }
    switch try await blocked.wait(for: id, { await origin.playlist(name, directives) }) {
    case .playlist(let text, let maxAge): return (text, maxAge)
    case .malformed(let reason): throw .badRequest(reason)
    case .late: throw Self.late
    case .missing: return nil
    }
  }

  private static let late = Problem(
    .serviceUnavailable, "Not ready", "the playlist doesn't have that segment or part yet",
    retryAfter: 1)
  private static let end = "#EXT-X-ENDLIST\n"

  /// Returns a playlist without parts, without its end while the session runs: an output that was stopped may go on, and a player
  /// that has seen the end asks for no more (RFC 8216, 4.3.3.4). One that waits for parts would ask at once, again and again.
  private func openEnded(_ text: String, _ id: String) -> String {
    text.hasSuffix(Self.end) && isRunning(id) ? String(text.dropLast(Self.end.count)) : text
  }
}

extension HLSOrigin.FileData {
  /// The content, for a response.
  fileprivate var content: ServedContent {
    ServedContent(ByteBuffer(bytes: bytes), tag: "\"\(String(id, radix: 36))\"")
  }
}

extension ServedContent {
  /// Creates content that is in memory.
  init(_ bytes: ByteBuffer, tag: String) {
    self.init(size: bytes.readableBytes, tag: tag) { range in
      let start = bytes.readerIndex + range.lowerBound
      return ResponseBody(
        byteBuffer: bytes.getSlice(at: start, length: range.count) ?? ByteBuffer())
    }
  }
}
