internal import Glibc
package import UprightOrientation
internal import Synchronization
internal import UprightMediaIO

/// The multivariant playlists of an HLS output. The sinks of its media playlists report their formats and
/// segments; the playlists are written when each has a segment, and again when what they say has changed.
package final class MultivariantPlaylist: Sendable {
  private struct Entry {
    let media: RenditionPlaylists.Media
    var rate: SegmentRate
    var codecs: [String] = []
    /// Whether a format has no name, so that `CODECS` would not be complete.
    var hasUnnamed = false
    var format: EncodedFormat?
    var audio: SideTrack?
    var segments = 0
    var isFinished = false
  }

  private struct State {
    var entries: [Entry]
    /// The text that each playlist has.
    var written: [String: String] = [:]
    var isPartial = false
  }

  private let playlists: RenditionPlaylists
  private let version: Int
  /// Whether the latest format is described. A complete file is described by its first.
  private let isLive: Bool
  private let unfinished: UnfinishedFiles
  /// Where the playlists are written; `nil` for the folder.
  private let store: (any HLSStore)?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - segmentDuration: The nominal duration of a segment.
  ///   - isLive: Whether the stream is a sliding window, and files stay if the run fails.
  ///   - store: Where the playlists are written; `nil` for the folder.
  package init(
    _ playlists: RenditionPlaylists, segments: SegmentKind, segmentDuration: MediaTime,
    isLive: Bool = false, unfinished: UnfinishedFiles, store: (any HLSStore)? = nil
  ) {
    self.playlists = playlists
    self.store = store
    // EXT-X-MEDIA requires 4 (RFC 8216, 7). fMP4 players expect 7.
    version = segments == .ts ? 4 : 7
    self.isLive = isLive
    self.unfinished = unfinished
    state = Mutex(
      State(
        entries: playlists.media.map {
          Entry(media: $0, rate: SegmentRate(targetDuration: segmentDuration))
        }))
  }

  /// Records a format of the media playlist `index`.
  func begin(_ description: OutputDescription, of index: Int) {
    state.withLock { state in
      let isAudio = state.entries[index].media.rendition == nil
      let audio = description.sideTracks.first
      let parameters = isAudio ? audio?.parameters : description.format.parameters
      if let name = parameters?.codecString {
        if !state.entries[index].codecs.contains(name) { state.entries[index].codecs.append(name) }
      } else {
        state.entries[index].hasUnnamed = true
      }
      state.entries[index].audio = audio
      if isLive || state.entries[index].format == nil {
        state.entries[index].format = description.format
      }
    }
  }

  /// Records a segment of the media playlist `index`, which lists it.
  func add(bytes: Int, duration: MediaTime, to index: Int) throws(UprightError) {
    try change { state in
      state.entries[index].rate.add(bytes: bytes, duration: duration)
      state.entries[index].segments += 1
    }
  }

  /// Records that the media playlist `index` is complete.
  func finish(_ index: Int, isPartial: Bool) throws(UprightError) {
    try change { state in
      state.entries[index].isFinished = true
      state.isPartial = isPartial
    }
  }

  /// Removes the playlists of a file.
  func abandon() {
    guard !isLive else { return }
    state.withLock { state in
      for path in state.written.keys { _ = unsafe unlink(path) }
      state.written = [:]
    }
  }

  /// The names of the output of a stopped run; empty if it isn't partial.
  var partialPaths: [String] {
    state.withLock { state in
      state.isPartial ? playlists.outputs.map { OutputName.partial($0) } : []
    }
  }

  private func change(_ body: (inout State) -> Void) throws(UprightError) {
    let result: Result<Void, UprightError> = state.withLock { state in
      body(&state)
      do throws(UprightError) { return .success(try write(&state)) } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private func write(_ state: inout State) throws(UprightError) {
    guard state.entries.allSatisfy({ $0.segments > 0 }) else { return }
    // The media playlists of a stopped run get their other names one after the other.
    let isPartial = state.isPartial && state.entries.allSatisfy(\.isFinished)
    guard isPartial || !state.isPartial else { return }
    for playlist in playlists.multivariants {
      let text = text(of: state, canvas: playlist.canvas, isPartial: isPartial)
      let path = isPartial ? OutputName.partial(playlist.path) : playlist.path
      guard state.written[path] != text else { continue }
      if let store {
        try store.claim(FilePath(path).name) { _ in text }
        state.written[path] = text
        continue
      }
      let staged = try StagedFile(path: path)
      unfinished.add(staged.temporaryPath)
      defer { unfinished.remove(staged.temporaryPath) }
      try staged.commit(Array(text.utf8))
      state.written[path] = text
      if isPartial, state.written.removeValue(forKey: playlist.path) != nil {
        _ = unsafe unlink(playlist.path)
      }
    }
  }

  private func text(of state: State, canvas: Int?, isPartial: Bool) -> String {
    func uri(_ file: String) -> String { isPartial ? OutputName.partial(file) : file }
    let isDual = playlists.multivariants.count > 1
    var variants: [MultivariantText.Variant] = []
    var audio: [MultivariantText.Audio] = []
    for entry in state.entries {
      guard let rendition = entry.media.rendition else {
        let parameters = entry.audio?.parameters
        audio.append(
          .init(
            uri: uri(entry.media.file), peak: entry.rate.peak, average: entry.rate.average,
            codec: entry.codecs.first, channels: parameters?.channels,
            language: entry.audio?.metadata["language"]))
        continue
      }
      guard canvas == nil || rendition.canvas == canvas, let format = entry.format else { continue }
      variants.append(
        .init(
          uri: uri(entry.media.file), peak: entry.rate.peak, average: entry.rate.average,
          codecs: entry.hasUnnamed ? [] : entry.codecs, size: format.size,
          frameRate: format.frameRate, name: isDual && canvas == nil ? rendition.name : nil))
    }
    return MultivariantText(version: version, variants: variants, audio: audio).text
  }
}
