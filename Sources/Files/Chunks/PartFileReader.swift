internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// Reads the packets of one part, in order.
final class PartFileReader {
  /// A packet, or what applies to the packets of a track.
  enum Item {
    case packet(PacketBox, track: Int)
    case extradata([UInt8], track: Int)
  }

  private let path: String
  private let file: FileReader
  private var buffer: ArraySlice<UInt8> = []
  private var isAtEnd = false
  private var format: EncodedFormat?
  private var formats = 0
  private var packets: UInt64 = 0

  /// Opens a part and reads its header.
  ///
  /// - Throws: `noInput` if it can't be read, `badData` if it isn't the part of that plan and chunk.
  init(path: String, plan: String, chunk: Int) throws(UprightError) {
    self.path = path
    guard let file = FileReader(path) else {
      throw UprightError(.noInput, "the part can't be read", at: path, remedy: "run the chunk")
    }
    self.file = file
    let header = JSONNode(document: (try? JSONValue(parsing: try line())) ?? .null)
    do throws(PolicyError) {
      guard try header.required(PartRecord.name).count(in: 1...Int.max) == PartRecord.version,
        try header.required("plan").string() == plan,
        try header.required("chunk").count(in: 0...Int.max) == chunk
      else {
        throw header.failure(.value, "another part", remedy: "run the chunk")
      }
    } catch {
      throw UprightError(
        .badData, "not part \(chunk) of this plan", at: path,
        remedy: "remove it, and run the chunk again")
    }
  }

  /// Returns the next item; `nil` at the end of the part.
  ///
  /// - Throws: `badData` if the part is damaged, `inputOutput` if reading fails.
  func next() throws(UprightError) -> Item? {
    while !isAtEnd {
      do throws(UprightError) {
        var head = try take(5)
        let kind = PartRecord(rawValue: try head.number(UInt8.self))
        let length = Int(try head.number(UInt32.self))
        guard let kind, length <= PartRecord.limit else { throw damage("an unknown record") }
        var content = try take(length)
        switch kind {
        case .format: format = try readFormat(content)
        case .extradata:
          return .extradata(
            Array(content.dropFirst(4)), track: Int(try content.number(UInt32.self)))
        case .packet:
          let track = Int(try content.number(UInt32.self))
          packets += 1
          defer { format = nil }
          return .packet(PacketBox(try Packet.read(content), format: format), track: track)
        case .end:
          guard try content.number(UInt64.self) == packets, try isComplete() else {
            throw damage("it doesn't end where it should")
          }
          isAtEnd = true
        }
      } catch {
        throw error.location.isEmpty ? damage(error.message) : error
      }
    }
    return nil
  }

  private func readFormat(_ content: ArraySlice<UInt8>) throws(UprightError) -> EncodedFormat {
    let node: JSONNode
    var rate: Rational?
    do throws(PolicyError) {
      let top = JSONNode(document: try JSONValue(parsing: content))
      node = try top.required("parameters")
      if let pair = try top.optional("rate")?.elements("a rate"), pair.count == 2 {
        let range = 1...Int(Int32.max)
        rate = Rational(try pair[0].count(in: range), try pair[1].count(in: range))
      }
    } catch {
      throw damage(error.message)
    }
    let parameters = try CodecParameters(node)
    defer { formats += 1 }
    return EncodedFormat(
      index: formats, size: parameters.size, parameters: parameters, frameRate: rate)
  }

  private func damage(_ what: String) -> UprightError {
    UprightError(
      .badData, "the part is damaged: \(what)", at: path,
      remedy: "remove it, and run the chunk again")
  }

  // MARK: - Bytes

  /// Returns the bytes of the first line.
  private func line() throws(UprightError) -> ArraySlice<UInt8> {
    try fill(1)
    guard let end = buffer.firstIndex(of: 10) else { throw damage("it has no header") }
    defer { buffer = buffer[(end + 1)...] }
    return buffer[..<end]
  }

  private func take(_ count: Int) throws(UprightError) -> ArraySlice<UInt8> {
    try fill(count)
    guard buffer.count >= count else { throw damage("it is truncated") }
    defer { buffer = buffer.dropFirst(count) }
    return buffer.prefix(count)
  }

  /// Whether nothing follows.
  private func isComplete() throws(UprightError) -> Bool {
    try fill(1)
    return buffer.isEmpty
  }

  /// Reads until the buffer has `count` bytes, or to the end of the file.
  private func fill(_ count: Int) throws(UprightError) {
    guard buffer.count < count else { return }
    var bytes = Array(buffer)
    while bytes.count < count {
      // A length that the file doesn't have costs no memory.
      let more = try file.read(1 << 20)
      if more.isEmpty { break }
      bytes += more
    }
    buffer = bytes[...]
  }
}
