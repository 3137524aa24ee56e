internal import Upright

/// The id of a recording: the names of its session and its file, as in `stage~take-2.mp4`. Neither name can have
/// a `~`.
struct RecordingID: Hashable, Sendable, CustomStringConvertible {
  let session: String
  let name: String
  let container: OutputContainer

  /// Returns `nil` unless both are names, and that of the file is one of a container.
  init?(session: String, name: String) {
    guard AddressRules.isName(session), AddressRules.isName(name),
      let dot = name.lastIndex(of: "."),
      let container = try? OutputContainer(
        target: name, format: String(name[name.index(after: dot)...])),
      Self.types[container] != nil
    else { return nil }
    self.session = session
    self.name = name
    self.container = container
  }

  /// Parses an id. Returns `nil` for any other text, such as a path.
  init?(_ text: some StringProtocol) {
    let names = text.split(separator: "~", omittingEmptySubsequences: false)
    guard names.count == 2 else { return nil }
    self.init(session: String(names[0]), name: String(names[1]))
  }

  var description: String { "\(session)~\(name)" }

  /// The media type of the file.
  var mediaType: String { Self.types[container] ?? "application/octet-stream" }

  /// The containers of live files, with their media types.
  private static let types: [OutputContainer: String] = [
    .mp4: "video/mp4", .mov: "video/quicktime", .matroska: "video/matroska",
    .mpegts: "video/mp2t", .flv: "video/x-flv",
  ]
}
