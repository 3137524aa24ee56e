internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// The kinds of records in a part.
///
/// A part is a header, which is one line of JSON, and records: a byte for the kind, the length as 32 bits, little
/// end first, and the content. The last record is `end`.
enum PartRecord: UInt8 {
  /// The format of the frames from here on, as JSON.
  case format = 1
  /// The number of the track, 32 bits, and the packet.
  case packet = 2
  /// The number of a track, 32 bits, and its extradata.
  case extradata = 3
  /// The number of packets, 64 bits.
  case end = 4

  /// What the header says, besides the plan and the chunk.
  static let name = "upright-part"
  static let version = 1
  /// The largest length of a record.
  static let limit = 1 << 30
}

/// Writes one part: the packets that a chunk gives.
final class PartWriter {
  private let file: StagedFile
  private let digest: ByteDigest
  private var buffer: [UInt8] = []
  private(set) var packets = 0
  private(set) var size = 0

  /// - Throws: `cannotCreate` if no file can be created in the folder.
  init(path: String, plan: String, chunk: Int) throws(UprightError) {
    file = try StagedFile(path: path)
    digest = try ByteDigest()
    let header: JSONValue = [
      PartRecord.name: .integer(PartRecord.version), "plan": .string(plan),
      "chunk": .integer(chunk),
    ]
    buffer += Array((header.compact + "\n").utf8)
  }

  /// Writes a packet.
  ///
  /// - Parameters:
  ///   - track: The index of the track in the output; 0 is the video.
  ///   - format: The format that begins with the packet, if it changes.
  func write(
    _ packet: borrowing Packet, track: Int, format: EncodedFormat? = nil
  ) throws(UprightError) {
    if let format {
      let json: JSONValue = [
        "rate": format.frameRate.map { [.integer($0.numerator), .integer($0.denominator)] }
          ?? .null,
        "parameters": format.parameters.json,
      ]
      try write(.format, Array(json.compact.utf8))
    }
    var content: [UInt8] = []
    content.append(number: UInt32(clamping: track))
    packet.append(to: &content)
    try write(.packet, content)
    packets += 1
  }

  /// Writes the extradata that a track ended with.
  func write(extradata: [UInt8], track: Int) throws(UprightError) {
    var content: [UInt8] = []
    content.append(number: UInt32(clamping: track))
    try write(.extradata, content + extradata)
  }

  private func write(_ kind: PartRecord, _ content: [UInt8]) throws(UprightError) {
    guard content.count <= PartRecord.limit else {
      throw UprightError(.badData, "a packet is too large")
    }
    buffer.append(kind.rawValue)
    buffer.append(number: UInt32(content.count))
    buffer += content
    if buffer.count >= 1 << 20 { try flush() }
  }

  private func flush() throws(UprightError) {
    digest.add(buffer)
    try file.append(buffer)
    size += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  /// Ends the part and gives it its name, unless there is a file of that name already.
  ///
  /// - Returns: The digest, and whether the file was published.
  func finish() throws(UprightError) -> (digest: String, isPublished: Bool) {
    var count: [UInt8] = []
    count.append(number: UInt64(packets))
    try write(.end, count)
    try flush()
    return (digest.finish(), try file.publish())
  }
}
