internal import Foundation
internal import HTTPTypes
internal import Logging
internal import Synchronization
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// A folder of video files as HLS on demand: nothing is transcoded ahead.
///
/// A file that is played has a process of its own, which has read its packets. Each segment is made when it is first asked
/// for, once however many ask, and kept in a cache on disk.
final class Library: Sendable {
  /// A file that is divided.
  private struct Source: Sendable {
    let process: LibraryProcess
    let divided: DividedFile
    var lastUse: ContinuousClock.Instant
  }

  /// A segment, and the init segment of its format.
  private typealias Rendering = (initial: [UInt8], segment: Content)

  private struct State: Sendable {
    var sources: [LibraryVersion: Source] = [:]
    var describer: LibraryProcess?
    /// A process without a file. To start one takes as long as to divide most files.
    var spare: LibraryProcess?
    var descriptions: [LibraryVersion: Result<LibraryDescription, UprightError>] = [:]
  }

  let folder: LibraryFolder
  private let program: String
  private let logger: Logger
  private let cache: SegmentCache
  private let slots = RenderSlots(
    max(1, ProcessInfo.processInfo.activeProcessorCount), waiting: 64)
  private let dividing = SharedWork<LibraryVersion, Source>()
  private let rendering = SharedWork<String, Rendering>()
  private let files = SharedWork<String, [UInt8]>()
  private let state = Mutex(State())

  /// The most files that have a process.
  private static let maxSources = 8
  /// How long a process is kept without a request.
  private static let idle = Duration.seconds(60)
  /// How long after one process has begun another one is started ahead: its first segments come first.
  private static let pause = Duration.seconds(2)
  private static let maxDescriptions = 100_000
  /// The segments that are made as soon as the playlist is asked for.
  private static let ahead = 2

  /// - Parameter program: The path of `upright-serve`.
  /// - Throws: `configuration` if the folder can't be read; `cannotCreate` if that of the cache can't be made.
  init(
    _ path: String, _ configuration: ServiceConfiguration, _ folders: DataFolders, program: String,
    logger: Logger
  ) throws(UprightError) {
    folder = try LibraryFolder(path, excluding: folders.root)
    (self.program, self.logger) = (program, logger)
    cache = SegmentCache(try folders.library(), limit: configuration.cacheSize, logger: logger)
  }

  // MARK: - Files

  /// A file, or the bytes of one that couldn't be stored.
  enum Content: Sendable {
    case file(OpenFile)
    case bytes([UInt8])
  }

  /// Opens a file of the library.
  ///
  /// - Throws: `Problem` 404.
  func open(_ path: LibraryPath) throws(Problem) -> OpenFile {
    guard let file = folder.open(path) else {
      throw .notFound("there is no such file in the library")
    }
    return file
  }

  /// Opens the file of a version.
  ///
  /// - Throws: `Problem` 404, 410 if the file is another one now.
  private func open(_ path: LibraryPath, _ version: LibraryVersion) throws(Problem) -> OpenFile {
    let file = try open(path)
    guard
      LibraryVersion(of: file, size: version.size, version.coding) == version
    else {
      throw Problem(.gone, "Gone", "the file has changed: load the playlist again")
    }
    return file
  }

  /// Returns a file's playlist, and begins to make the first segments.
  ///
  /// - Throws: `Problem` 404, 415 if the file can't be divided, 429.
  func playlist(
    _ path: LibraryPath, size: String, _ coding: LibraryVersion.Coding?
  ) async throws -> String {
    let file = try open(path)
    let version = await version(of: file, size: size, coding)
    let divided = try await divided(file, version, path)
    Task { [self] in
      for index in 0..<min(Self.ahead, divided.count) where slots.hasFreeSlot {
        _ = try? await self.file(.segment(index, .all), of: version, path)
      }
    }
    return divided.playlist
  }

  /// Returns the version of a file. HDR is kept only where there is any, and H.264 is asked for only where there is another
  /// codec.
  private func version(
    of file: OpenFile, size: String, _ coding: LibraryVersion.Coding?
  ) async -> LibraryVersion {
    guard let coding else { return LibraryVersion(of: file, size: size) }
    let shown = try? await description(of: file)
    let isAnother =
      switch coding {
      case .hdr: shown?.dynamicRange != nil
      case .h264: shown?.codec != "h264"
      }
    return LibraryVersion(of: file, size: size, isAnother ? coding : nil)
  }

  /// Returns a file's playlist of renditions: of each size that isn't larger than the file's, all audio tracks, captions and
  /// keyframes. Where copied video isn't H.264, which not every browser decodes, there is one in H.264 beside it.
  ///
  /// - Parameter sizes: Sizes that a URL may ask for, the largest first; empty for that of `index.m3u8`.
  /// - Throws: As `playlist`.
  func master(
    _ path: LibraryPath, sizes: [String], _ coding: LibraryVersion.Coding?
  ) async throws -> String {
    let file = try open(path)
    let shown = try? await description(of: file)
    let fitting = sizes.filter { name in
      guard let shown, let preset = StreamPreset.named(name) else { return true }
      let (width, height) = (preset.size.width, preset.size.height)
      return min(width, height) <= min(shown.width, shown.height)
        && max(width, height) <= max(shown.width, shown.height)
    }
    var variants: [(SegmentVariant, String)] = []
    for size in fitting.isEmpty ? [LibraryVersion.automatic] : fitting {
      let version = await version(of: file, size: size, coding)
      let variant = try await variant(of: file, version, path)
      variants.append((variant, "\(version)"))
      guard version.coding == nil, let codec = variant.codecs.first, !codec.hasPrefix("avc1")
      else { continue }
      let other = LibraryVersion(of: file, size: size, .h264)
      do {
        variants.append((try await self.variant(of: file, other, path), "\(other)"))
      } catch let problem as Problem where problem.status == .unsupportedMediaType {
        // An FFmpeg without an encoder of H.264.
      }
    }
    return SegmentVariant.playlist(of: variants)
  }

  private func variant(
    of file: OpenFile, _ version: LibraryVersion, _ path: LibraryPath
  ) async throws -> SegmentVariant {
    let bytes = try await made("\(version)/variant.json", file, version, path) { process in
      guard case .variant(let variant) = try await process.answer(to: .variant).answer else {
        throw Self.missing
      }
      return Array(try JSONEncoder().encode(variant))
    }
    return try JSONDecoder().decode(SegmentVariant.self, from: Data(bytes))
  }

  /// Returns the list of small pictures of a file.
  ///
  /// - Throws: As `playlist`.
  func sprites(_ path: LibraryPath) async throws -> String {
    let file = try open(path)
    let version = LibraryVersion(of: file, size: LibraryVersion.automatic)
    let bytes = try await made("\(version)/sprites.vtt", file, version, path) { process in
      try await process.answer(to: .sprites(folder: "\(version)")).bytes
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns a file that a playlist names.
  ///
  /// - Throws: `Problem` 404, 410, 415 if it can't be decoded, 429; `CancellationError`.
  func file(_ name: SegmentFile, of version: LibraryVersion, _ path: LibraryPath) async throws
    -> Content
  {
    let file = try open(path, version)
    let key = "\(version)/\(name.name)"
    if let known = cache.open(key) { return .file(known) }
    switch name {
    case .segment(let index, let content):
      return try await render(index, content, of: file, version, path).segment
    case .initial(let format, let content):
      let divided = try await divided(file, version, path)
      guard divided.formats.indices.contains(format) else { throw Self.missing }
      let rendering = try await render(divided.formats[format], content, of: file, version, path)
      return cache.open(key).map(Content.file) ?? .bytes(rendering.initial)
    case .playlist, .captionsPlaylist, .captions, .sprites, .spriteSheet:
      let bytes = try await made(key, file, version, path) { process in
        try await process.answer(to: .file(name)).bytes
      }
      return cache.open(key).map(Content.file) ?? .bytes(bytes)
    }
  }

  /// Returns a file from the cache, or what the process of its input makes, once for all who ask at the same time.
  private func made(
    _ key: String, _ file: OpenFile, _ version: LibraryVersion, _ path: LibraryPath,
    _ make: @escaping @Sendable (LibraryProcess) async throws -> [UInt8]
  ) async throws -> [UInt8] {
    if let known = cache.open(key),
      let bytes = FileManager.default.contents(atPath: "/proc/self/fd/\(known.descriptor)")
    {
      return Array(bytes)
    }
    return try await files.value(key) { [self] in
      try await slots.run { [self] in
        let source = try await source(of: file, version, path)
        let bytes = try await problems(of: path) { try await make(source.process) }
        cache.store(bytes, key)
        return bytes
      }
    }
  }

  /// Returns the frame that is shown at a time, upright, as a JPEG.
  ///
  /// - Throws: `Problem` 404, 415, 429.
  func poster(_ path: LibraryPath, at milliseconds: Int) async throws -> Content {
    let file = try open(path)
    let version = LibraryVersion(of: file, size: "source")
    let key = "\(version)/\(milliseconds).jpg"
    if let known = cache.open(key) { return .file(known) }
    let bytes = try await files.value(key) { [self] in
      try await slots.run { [self] in
        let call = LibraryCall.poster(at: Double(milliseconds) / 1000)
        let (_, bytes) = try await problems(of: path) { [self] in
          do {
            return try await describer().answer(to: call, descriptor: file.descriptor)
          } catch let error as UprightError where error.code == .usage {
            throw Problem.notFound("the video has no frame then")
          }
        }
        cache.store(bytes, key)
        return bytes
      }
    }
    return cache.open(key).map(Content.file) ?? .bytes(bytes)
  }

  private static let missing = Problem.notFound("the file has no such segment")

  // MARK: - Work

  /// Returns how a file is divided: from the cache, or by a process.
  private func divided(
    _ file: OpenFile, _ version: LibraryVersion, _ path: LibraryPath
  ) async throws -> DividedFile {
    if let known = cache.open(Self.dividedKey(version)),
      let bytes = FileManager.default.contents(atPath: "/proc/self/fd/\(known.descriptor)"),
      let divided = try? JSONDecoder().decode(DividedFile.self, from: bytes)
    {
      return divided
    }
    return try await slots.run { [self] in try await source(of: file, version, path).divided }
  }

  private static func dividedKey(_ version: LibraryVersion) -> String {
    "\(version)/divided.json"
  }

  /// Returns the process that has a file, which is started once for all who ask at the same time. Who asks has a slot, so
  /// that there are no more processes than `maxSources` and those in use.
  private func source(
    of file: OpenFile, _ version: LibraryVersion, _ path: LibraryPath
  ) async throws -> Source {
    let present = state.withLock { state -> Source? in
      guard let source = state.sources[version], !source.process.hasEnded else { return nil }
      state.sources[version]?.lastUse = .now
      return source
    }
    if let present { return present }
    return try await dividing.value(version) { [self] in try await divide(file, version, path) }
  }

  private func divide(
    _ file: OpenFile, _ version: LibraryVersion, _ path: LibraryPath
  ) async throws -> Source {
    try await problems(of: path) { [self] in
      let process = try begin(.divide(version: "\(version)"), file: file)
      guard case .divided(let divided) = try await process.first().answer else {
        throw UprightError(.fault, "the process doesn't answer")
      }
      if let bytes = try? JSONEncoder().encode(divided) {
        cache.store(Array(bytes), Self.dividedKey(version))
      }
      let source = Source(process: process, divided: divided, lastUse: .now)
      state.withLock { state in
        state.sources = state.sources.filter { !$0.value.process.hasEnded }
        if state.sources.count >= Self.maxSources,
          let oldest = state.sources.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
          state.sources[oldest.key] = nil
        }
        state.sources[version] = source
      }
      return source
    }
  }

  private func render(
    _ index: Int, _ content: SegmentContent, of file: OpenFile, _ version: LibraryVersion,
    _ path: LibraryPath
  ) async throws -> Rendering {
    let key = "\(version)/\(SegmentFile.segment(index, content).name)"
    return try await rendering.value(key) { [self] in
      try await slots.run { [self] in
        let source = try await source(of: file, version, path)
        guard index < source.divided.count else { throw Self.missing }
        let new = cache.begin(key)
        let (answer, bytes) = try await problems(of: path) {
          try await source.process.answer(
            to: .segment(index, content), descriptor: new?.descriptor ?? -1)
        }
        guard case .segment(let count, let isWritten) = answer, count <= bytes.count else {
          throw Self.missing
        }
        let file = isWritten ? new.flatMap(cache.finish) : nil
        let stored = file.map(Content.file) ?? .bytes(Array(bytes[count...]))
        let rendering = (initial: Array(bytes[..<count]), segment: stored)
        if let format = source.divided.formats.lastIndex(where: { $0 <= index }) {
          cache.store(
            rendering.initial, "\(version)/\(SegmentFile.initial(format, content).name)")
        }
        return rendering
      }
    }
  }

  /// Calls a process, and throws what it says of a file as a `Problem`.
  private func problems<Value: Sendable>(
    of path: LibraryPath, _ body: @Sendable () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch let error as UprightError {
      switch error.code {
      case .cancelled: throw CancellationError()
      case .badData, .usage, .unavailable, .noInput, .fault:
        let detail = "\(printable(path.text)): \(Self.description(of: error))"
        if error.code == .fault { logger.warning("library: \(detail)") }
        throw Problem(.unsupportedMediaType, "Unsupported media type", detail)
      default: throw error
      }
    }
  }

  /// An error without the name that a process has for the file.
  static func description(of error: any Error) -> String {
    guard let error = error as? UprightError else { return "can't be read" }
    return [error.message, error.remedy].filter { !$0.isEmpty && !$0.contains("/proc/") }
      .joined(separator: "; ")
  }

  // MARK: - Lists

  /// Returns a page of the files, in the order of their paths, and the last path of it if more follow.
  ///
  /// - Parameters:
  ///   - after: The bytes of the path before the page.
  ///   - text: What the paths have in them, in either case; `nil` for all files.
  func list(
    after: [UInt8]?, limit: Int, with text: String?
  ) async -> (page: [LibraryPath], next: LibraryPath?) {
    await blocking { [self] in
      var paths = folder.paths()[...]
      if let after { paths = paths.drop { !after.lexicographicallyPrecedes($0.bytes) } }
      if let text { paths = paths.filter { $0.text.localizedCaseInsensitiveContains(text) }[...] }
      let page = paths.prefix(limit)
      return (Array(page), paths.count > limit ? page.last : nil)
    }
  }

  /// Describes a file.
  ///
  /// - Throws: `UprightError` if it can't be read.
  func description(of file: OpenFile) async throws -> LibraryDescription {
    let version = LibraryVersion(of: file, size: LibraryVersion.automatic)
    if let known = state.withLock({ $0.descriptions[version] }) { return try known.get() }
    let result: Result<LibraryDescription, UprightError>
    do {
      guard
        case .description(let found) = try await describer().answer(
          to: .description, descriptor: file.descriptor
        ).answer
      else { throw UprightError(.fault, "the process doesn't answer") }
      result = .success(found)
    } catch let error as UprightError {
      result = .failure(error)
    }
    state.withLock { state in
      if state.descriptions.count >= Self.maxDescriptions { state.descriptions = [:] }
      state.descriptions[version] = result
    }
    return try result.get()
  }

  /// Returns the process that describes files.
  private func describer() throws(UprightError) -> LibraryProcess {
    if let running = state.withLock({ $0.describer }), !running.hasEnded { return running }
    let process = try begin(.describe(folder: folder.root))
    state.withLock { $0.describer = process }
    return process
  }

  // MARK: - Rest

  /// Gives a process its first order.
  ///
  /// - Throws: `fault` if no process can be started.
  private func begin(
    _ order: LibraryOrder, file: OpenFile? = nil
  ) throws(UprightError) -> LibraryProcess {
    let spare = state.withLock { $0.spare.take() }
    Task { [weak self] in
      try? await Task.sleep(for: Self.pause)
      self?.startAhead()
    }
    if let spare, !spare.hasEnded {
      spare.begin(order, file: file)
      return spare
    }
    let process = try LibraryProcess(program)
    process.begin(order, file: file)
    return process
  }

  private func startAhead() {
    state.withLock { state in
      if state.spare == nil { state.spare = try? LibraryProcess(program) }
    }
  }

  /// Ends the processes that nobody uses, until the task is cancelled.
  func run() async {
    startAhead()
    while (try? await Task.sleep(for: .seconds(10))) != nil {
      let now = ContinuousClock.now
      state.withLock { state in
        state.sources = state.sources.filter {
          !$0.value.process.hasEnded && $0.value.lastUse.duration(to: now) < Self.idle
        }
      }
    }
  }
}
