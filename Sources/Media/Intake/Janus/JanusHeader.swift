internal import UprightOrientation
internal import UprightPolicy
internal import UprightMediaIO
internal import UprightSignals

/// The header of a Janus recording: `{"t", "c", "f", "x", "s", "u", "e", "or"}`.
struct JanusHeader {
  /// The codec; `nil` for `g711`, where only the packets' payload type tells mu-law from A-law.
  let codec: RTPCodec?
  let isVideo: Bool
  /// The header extensions that carry CVO.
  let orientation: OrientationExtension
  /// The time when the recording was created, in microseconds since 1970.
  let created: Double?
  /// The time when its first packet was written, in microseconds since 1970.
  let written: Double?
  /// The payload type of RED around the audio.
  let redundancy: UInt8?
  /// H.264 parameter sets from the session description, with start codes.
  let parameterSets: [UInt8]

  /// - Throws: `badData`.
  init(_ header: JanusRecording.Header, at path: String) throws(UprightError) {
    switch header {
    case .word(let word):
      // The oldest recordings had one codec per kind and no timestamps.
      guard word == "video" || word == "audio" else {
        throw Self.error("a recording of \(word.prefix(20))", at: path)
      }
      isVideo = word == "video"
      codec = isVideo ? .vp8 : .opus
      orientation = OrientationExtension([:])
      (created, written, redundancy, parameterSets) = (nil, nil, nil, [])
    case .json(let bytes):
      let json = try Self.parse(bytes, at: path)
      (isVideo, codec) = try Self.codec(json, at: path)
      if json["e"] == .bool(true) {
        throw UprightError(
          .badData, "the recording is end-to-end encrypted", at: path,
          remedy: "record it without encryption, or decrypt it first")
      }
      orientation = OrientationExtension(Self.extensions(json["x"]))
      created = Self.number(json["s"])
      written = Self.number(json["u"])
      redundancy = Self.number(json["or"]).flatMap {
        (1...127).contains($0) ? UInt8($0) : nil
      }
      parameterSets = codec == .h264 ? H264Parameters.sets(Self.text(json["f"]) ?? "") : []
    }
  }

  private static func parse(_ bytes: [UInt8], at path: String) throws(UprightError) -> JSONValue {
    do throws(PolicyError) {
      return try JSONValue(parsing: bytes)
    } catch {
      throw Self.error("its header is not JSON", at: path)
    }
  }

  private static func codec(
    _ json: JSONValue, at path: String
  ) throws(UprightError) -> (isVideo: Bool, codec: RTPCodec?) {
    let kind = text(json["t"])?.lowercased()
    guard let name = text(json["c"])?.lowercased(), kind == "v" || kind == "a" else {
      throw error(
        kind == "d"
          ? "a recording of data, not of video or audio"
          : "its header has no kind (t) or no codec (c)", at: path)
    }
    if kind == "a", name == "g711" { return (false, nil) }
    guard let codec = RTPCodec(rawValue: name), codec.isVideo == (kind == "v") else {
      throw UprightError(
        .badData, "recordings of \(name.prefix(40)) are not supported", at: path,
        remedy: "expected \(RTPCodec.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return (codec.isVideo, codec)
  }

  private static func extensions(_ json: JSONValue?) -> [Int: String] {
    guard case .object(let members) = json else { return [:] }
    var uris: [Int: String] = [:]
    for member in members {
      if let id = Int(member.key), let uri = text(member.value) { uris[id] = uri }
    }
    return uris
  }

  private static func text(_ json: JSONValue?) -> String? {
    if case .string(let text) = json { text } else { nil }
  }

  private static func number(_ json: JSONValue?) -> Double? {
    switch json {
    case .number(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }

  private static func error(_ what: String, at path: String) -> UprightError {
    UprightError(
      .badData, "can't read the Janus recording: \(what)", at: path,
      remedy: "give a recording of video or audio")
  }
}
