/// An incremental parser for Janus recordings (.mjr): a header, then packets.
///
/// The current form is `MJR00002`, a length and JSON, and for each packet `MEET`, milliseconds and a length.
/// `MJR00001` has `MEETECHO` and a length before each packet. The form before that starts with `MEETECHO` and
/// has one word instead of JSON. All numbers are big endian. If a packet does not start as expected, the
/// parser searches for the next one that does.
package struct JanusRecording: Sendable {
  /// The header of a recording.
  package enum Header: Sendable, Hashable {
    /// A JSON object, not parsed.
    case json([UInt8])
    /// `video` (VP8) or `audio` (Opus), in the oldest form.
    case word(String)
  }

  /// A complete packet.
  package struct Packet: Sendable, Hashable {
    /// The arrival time since the first packet, in milliseconds; `nil` in the older forms.
    package let arrival: Int64?
    /// The RTP packet.
    package let bytes: [UInt8]
  }

  /// An item of the file.
  package enum Item: Sendable, Hashable {
    case header(Header)
    case packet(Packet)
    /// The bytes are not a recording. No item follows.
    case notARecording
  }

  private enum Form { case two, one, none }

  private var form: Form?
  private var buffer: [UInt8] = []
  private var position = 0
  private var isRefused = false
  /// The number of bytes that are not part of a packet.
  package private(set) var skipped = 0

  private static let word = Array("MEETECHO".utf8)

  /// Creates a parser at the start of a file.
  package init() {}

  /// Returns whether a file that starts with `bytes` (8 of them) is a recording in a known form.
  package static func recognises(_ bytes: some Collection<UInt8>) -> Bool {
    let head = Array(bytes.prefix(8))
    return head == Array("MJR00002".utf8) || head == Array("MJR00001".utf8) || head == word
  }

  /// The number of bytes that are not parsed yet. At the end of the file, this is an incomplete item.
  package var unread: Int { buffer.count - position }

  /// Adds the next bytes of the file.
  package mutating func append(_ bytes: some Collection<UInt8>) {
    if position > 0 {
      buffer.removeFirst(position)
      position = 0
    }
    buffer += bytes
  }

  /// Returns the next item, or `nil` if more bytes are needed.
  package mutating func next() -> Item? {
    if isRefused { return nil }
    return form == nil ? header() : packet()
  }

  private mutating func header() -> Item? {
    guard unread >= 10 else { return nil }
    let magic = Array(buffer[..<8])
    guard Self.recognises(magic) else {
      isRefused = true
      return .notARecording
    }
    let length = buffer.bigEndian(at: 8, count: 2)
    guard unread >= 10 + length else { return nil }
    let body = buffer[10..<10 + length]
    position = 10 + length
    if magic == Self.word {
      form = Form.none
      return .header(.word(String(decoding: body, as: UTF8.self)))
    }
    form = magic.last == UInt8(ascii: "2") ? .two : .one
    return .header(.json(Array(body)))
  }

  private mutating func packet() -> Item? {
    while unread >= 10 {
      guard beginsPacket(at: position) else {
        position += 1
        skipped += 1
        continue
      }
      let length = buffer.bigEndian(at: position + 8, count: 2)
      guard unread >= 10 + length else { return nil }
      let arrival = form == .two ? Int64(buffer.bigEndian(at: position + 4, count: 4)) : nil
      let bytes = Array(buffer[position + 10..<position + 10 + length])
      position += 10 + length
      return .packet(Packet(arrival: arrival, bytes: bytes))
    }
    return nil
  }

  private func beginsPacket(at place: Int) -> Bool {
    let mark = form == .two ? Self.word.prefix(4) : Self.word[...]
    return buffer[place..<place + mark.count].elementsEqual(mark)
  }

  /// Returns the last packet of a file, from the file's last bytes. Returns `nil` if they contain no complete
  /// packet.
  ///
  /// - Parameters:
  ///   - tail: At least 128 KiB, or the whole file, so that a packet and its header fit.
  ///   - hasTimes: Whether packets have arrival times, as the first packet of the file shows.
  package static func lastPacket(inTail tail: [UInt8], hasTimes: Bool) -> Packet? {
    let mark = hasTimes ? word.prefix(4) : word[...]
    for start in 0..<max(0, tail.count - 9) where tail[start] == mark[0] {
      if let last = lastPacket(tail, from: start, mark) { return last }
    }
    return nil
  }

  /// Follows packets from `start` to the end of `tail`, where the last one may be truncated. Returns `nil` if
  /// they don't lead to the end.
  private static func lastPacket(
    _ tail: [UInt8], from start: Int, _ mark: ArraySlice<UInt8>
  ) -> Packet? {
    var place = start
    var last: (place: Int, end: Int)?
    while place + 10 <= tail.count {
      guard tail[place..<place + mark.count].elementsEqual(mark) else { return nil }
      let end = place + 10 + tail.bigEndian(at: place + 8, count: 2)
      if end > tail.count { break }
      last = (place, end)
      place = end
    }
    guard let last else { return nil }
    let arrival = mark.count == 4 ? Int64(tail.bigEndian(at: last.place + 4, count: 4)) : nil
    return Packet(arrival: arrival, bytes: Array(tail[last.place + 10..<last.end]))
  }
}
