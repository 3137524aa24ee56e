internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Upright
internal import UprightPolicy

/// `/vod`: lists the library, and serves playlists, segments and stills of its files, for pages of any origin.
struct LibraryRoutes: Sendable {
  /// `nil` if there is none.
  private let given: Library?
  private let keys: PlaybackKeys
  private let bodyLimit: Int
  private let bodies = PlaylistBodies()

  /// The number of files of a page: the default and the maximum.
  private static let limits = (standard: 100, most: 1000)
  /// The latest time of a still, in seconds.
  private static let latest = 1e7

  init(library: Library?, keys: PlaybackKeys, bodyLimit: Int) {
    (given, self.keys, self.bodyLimit) = (library, keys, bodyLimit)
  }

  /// The library.
  ///
  /// - Throws: `Problem` 404 if there is none.
  private var library: Library {
    get throws(Problem) {
      guard let given else { throw .notFound("there is no library; see --library") }
      return given
    }
  }

  func add(to router: Router<ServiceContext>) {
    router.get("/vod") { request, context in try await list(request, context) }
    router.get("/vod/**") { request, context in try await answer(request, context) }
    router.on("/vod/**", method: .options) { _, _ in
      Response(status: .noContent, headers: LiveFileRoutes.preflight)
    }
    router.post("/v1/vod/**") { request, context in try await sign(request, context) }
  }

  // MARK: - Media

  private func answer(_ request: Request, _ context: ServiceContext) async throws -> Response {
    guard let target = LibraryTarget(request.uri.path) else {
      if request.uri.path == "/vod/" { return try await list(request, context) }
      throw Problem.notFound("there is no such file")
    }
    var age = LiveFileRoutes.longestAge
    if let signature = target.signature {
      // A cache must not give the file to anyone for longer than the URL is valid.
      age = min(age, try keys.check(signature, of: "/vod/" + target.path.encoded))
    }
    let maxAge = age
    let (library, uri) = (try library, request.uri)
    // A client that has gone needs no segment.
    let content = try await context.whileConnected {
      try await Self.content(target, uri, library)
    }
    return response(to: request, content, target, age: maxAge)
  }

  /// What is sent.
  private enum Content: Sendable {
    case playlist(String)
    case media(Library.Content)
  }

  private static func content(
    _ target: LibraryTarget, _ uri: URI, _ library: Library
  ) async throws -> Content {
    switch target.content {
    case .playlist:
      let query = try QueryReader(uri, ["size", "hdr", "codec"])
      let size = try query["size"].map { (name) throws(Problem) in try Self.size(name, "size") }
      return .playlist(
        try await library.playlist(
          target.path, size: size ?? LibraryVersion.automatic, Self.coding(query)))
    case .master:
      let query = try QueryReader(uri, ["ladder", "hdr", "codec"])
      return .playlist(
        try await library.master(
          target.path, sizes: Self.ladder(query), Self.coding(query)))
    case .sprites: return .playlist(try await library.sprites(target.path))
    case .poster:
      let text = try QueryReader(uri, ["at"])["at"] ?? "0"
      guard let seconds = Double(text), (0...latest).contains(seconds) else {
        throw Problem.badRequest("at: must be a time in seconds")
      }
      let milliseconds = Int(clamping: seconds * 1000)
      return .media(try await library.poster(target.path, at: milliseconds))
    case .file(let file, let version):
      return .media(try await library.file(file, of: version, target.path))
    }
  }

  private static func size(_ name: Substring, _ parameter: String) throws(Problem) -> String {
    guard LibraryVersion.sizes.contains(where: { $0 == name }) else {
      throw .badRequest("\(parameter): use \(LibraryVersion.sizes.joined(separator: ", "))")
    }
    return String(name)
  }

  /// Returns the sizes of a ladder, the largest first.
  private static func ladder(_ query: QueryReader) throws(Problem) -> [String] {
    guard let text = query["ladder"] else { return [] }
    var sizes: [String] = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      let size = try size(name, "ladder")
      guard !sizes.contains(size) else { throw .badRequest("ladder: \(size) appears twice") }
      sizes.append(size)
    }
    // `source` comes first, and then the others from the largest on.
    let order = LibraryVersion.sizes.prefix(1) + LibraryVersion.sizes.dropFirst().reversed()
    return order.filter(sizes.contains)
  }

  private static func coding(_ query: QueryReader) throws(Problem) -> LibraryVersion.Coding? {
    switch (query["hdr"], query["codec"]) {
    case (nil, nil): return nil
    case ("keep", nil): return .hdr
    case (nil, "h264"): return .h264
    case (nil, _): throw .badRequest("codec: use h264, or leave it out")
    case (_, nil): throw .badRequest("hdr: use keep, or leave it out")
    default: throw .badRequest("codec: HDR is kept in HEVC: leave one of the two out")
    }
  }

  private func response(
    to request: Request, _ content: Content, _ target: LibraryTarget, age: Int
  ) -> Response {
    var headers = LiveFileRoutes.crossOrigin
    let name: String
    var isVersioned = false
    switch target.content {
    case .playlist, .master: name = ".m3u8"
    case .sprites: name = ".vtt"
    case .poster: name = ".jpg"
    case .file(let file, _): (name, isVersioned) = (file.name, true)
    }
    let fileExtension = name.split(separator: ".").last.map(String.init) ?? ""
    headers[.contentType] = MediaTypes.byExtension[fileExtension]
    headers[.cacheControl] = isVersioned ? "public, max-age=\(age), immutable" : "no-cache"
    switch content {
    case .playlist(let text): return bodies.body(of: text).response(to: request, headers)
    case .media(.file(let file)): return file.response(to: request, headers)
    case .media(.bytes(let bytes)):
      return ServedContent(ByteBuffer(bytes: bytes), tag: TextBody.tag(of: bytes))
        .response(to: request, headers)
    }
  }

  // MARK: - Lists

  private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let query = try QueryReader(request.uri, ["limit", "after", "find"])
    let limit = try query.limit(in: 1...Self.limits.most) ?? Self.limits.standard
    // The path of a file, which may have vanished since.
    let after = query["after"].map { LibraryPath.decoded($0) ?? Array($0.utf8) }
    let library = try library
    let find = query["find"].flatMap { $0.isEmpty ? nil : String($0) }
    let (page, next) = await library.list(after: after, limit: limit, with: find)
    var files: [JSONValue] = []
    for path in page {
      // It may have vanished, or be a link that leads out of the folder.
      guard let file = library.folder.open(path) else { continue }
      let url = context.address.of("/vod/\(path.encoded)/index.m3u8")
      files.append(await json(path, file, url, library))
    }
    var members = [JSONValue.Member("files", .array(files))]
    if let next { members.append(.init("next", .string(next.encoded))) }
    return Response(json: .object(members))
  }

  private func json(
    _ path: LibraryPath, _ file: OpenFile, _ url: String, _ library: Library
  ) async -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("path", .string(path.text)),
      .init("url", .string(url)),
      .init("bytes", .integer(file.size)),
    ]
    do {
      let found = try await library.description(of: file)
      members += [
        .init("size", ["width": .integer(found.width), "height": .integer(found.height)]),
        .init("duration", found.duration.map { .number($0) } ?? .null),
        .init("orientation", .string(found.orientation)), .init("turns", .integer(found.turns)),
        .init("hdr", found.dynamicRange.map { .string($0) } ?? .null),
        .init("codec", .string(found.codec)),
        .init("problem", .null),
      ]
    } catch {
      let unknown = ["size", "duration", "orientation", "turns", "hdr", "codec"]
      members += unknown.map { .init($0, .null) }
      members.append(.init("problem", .string(Library.description(of: error))))
    }
    return .object(members)
  }

  // MARK: - Signed URLs

  private func sign(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let (start, end) = ("/v1/vod/", "/playback-url")
    let url = request.uri.path
    guard url.hasSuffix(end),
      let path = LibraryPath(encoded: url.dropFirst(start.count).dropLast(end.count))
    else { throw Problem.notFound("there is no such path") }
    let seconds = try await request.seconds(upTo: PlaybackKeys.longest, bodyLimit: bodyLimit)
    _ = try library.open(path)
    return keys.response("/vod/" + path.encoded, seconds: seconds, context)
  }
}
