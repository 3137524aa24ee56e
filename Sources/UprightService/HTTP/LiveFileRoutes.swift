internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `GET /live/{id}/...`: playlists and segments, without a token and for pages of any origin. A protected session
/// needs a signed URL, `/live/{id}/~{signature}/...`.
struct LiveFileRoutes: Sendable {
  let folders: DataFolders
  /// Returns whether a session of that name is running.
  let isRunning: @Sendable (_ session: String) -> Bool
  /// Returns who may play the session of that name.
  let playback: @Sendable (_ session: String) -> Playback
  let keys: PlaybackKeys

  init(
    folders: DataFolders, keys: PlaybackKeys, isRunning: @escaping @Sendable (String) -> Bool,
    playback: @escaping @Sendable (String) -> Playback
  ) {
    self.folders = folders
    self.keys = keys
    self.isRunning = isRunning
    self.playback = playback
  }

  /// The time for which a segment may be cached, in seconds: a year.
  private static let longestAge = 31_536_000

  func add(to router: Router<ServiceContext>) {
    for method in [HTTPRequest.Method.get, .head] {
      router.on("/live/:id/:name", method: method) { request, context in
        guard try playback(context.parameters.require("id")) == .open else {
          throw Problem.forbidden("this session needs a signed URL")
        }
        return try await file(request, context, age: Self.longestAge)
      }
      router.on("/live/:id/~{signature}/:name", method: method) { request, context in
        let left = try keys.check(
          context.parameters.require("signature")[...], of: context.parameters.require("id"))
        // A cache must not give the file to anyone for longer than the URL is valid.
        return try await file(request, context, age: min(left, Self.longestAge))
      }
    }
    for path in ["/live/:id/:name", "/live/:id/~{signature}/:name"] as [RouterPath] {
      router.on(path, method: .options) { _, _ in
        var headers = Self.crossOrigin
        headers[.accessControlAllowMethods] = "GET, HEAD"
        headers[.accessControlAllowHeaders] = "Range"
        headers[.accessControlMaxAge] = "86400"
        return Response(status: .noContent, headers: headers)
      }
    }
  }

  /// The headers that allow pages of any origin to read a response.
  static let crossOrigin: HTTPFields = [
    .accessControlAllowOrigin: "*",
    .accessControlExposeHeaders: "Content-Length, Content-Range, Accept-Ranges, Retry-After",
  ]

  private static let types = [
    "m3u8": "application/vnd.apple.mpegurl", "m4s": "video/iso.segment", "mp4": "video/mp4",
    "ts": "video/mp2t",
  ]

  /// - Parameter age: The time for which a segment may be cached, in seconds.
  private func file(
    _ request: Request, _ context: ServiceContext, age: Int
  ) async throws -> Response {
    let id = try context.parameters.require("id")
    let name = try context.parameters.require("name")
    let missing = Problem.notFound("there is no such file")
    guard AddressRules.isName(id), AddressRules.isName(name),
      let type = Self.types[(name as NSString).pathExtension]
    else { throw missing }
    let path = "\(folders.root)/live/\(id)/\(name)"
    var headers = Self.crossOrigin
    headers[.contentType] = type
    if name.hasSuffix(".m3u8") {
      // The playlist may be replaced at any time. Reading it through one handle gives a consistent version.
      guard let data = FileManager.default.contents(atPath: path) else {
        if name == "index.m3u8", isRunning(id) {
          throw Problem(
            .serviceUnavailable, "Not ready", "the first segment isn't complete yet", retryAfter: 1)
        }
        throw missing
      }
      headers[.cacheControl] = "no-cache"
      headers[.contentLength] = String(data.count)
      let body =
        request.method == .head ? ResponseBody() : .init(byteBuffer: ByteBuffer(bytes: data))
      return Response(status: .ok, headers: headers, body: body)
    }
    guard let file = OpenFile(path) else { throw missing }
    headers[.cacheControl] = "public, max-age=\(age), immutable"
    return file.response(to: request, headers)
  }
}
