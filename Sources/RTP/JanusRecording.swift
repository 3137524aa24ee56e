/// Reads a Janus recording (.mjr) from bytes as they come: a header, then packets one by one.
///
/// `MJR00002`, a length, JSON; then for each packet `MEET`, milliseconds, a length. `MJR00001` has
/// `MEETECHO` and a length before each packet, and the form before that has `MEETECHO` and one word
/// instead of JSON. All numbers are big endian. Where a packet does not begin as it should, the next
/// one that does is looked for.
public struct JanusRecording: Sendable {
  /// What stands at the beginning.
  public enum Header: Sendable, Hashable {
    /// A JSON object, not looked into.
    case json([UInt8])
    /// `video` (VP8) or `audio` (Opus), of the oldest form.
    case word(String)
  }

  /// A packet whole.
  public struct Packet: Sendable, Hashable {
    /// Milliseconds since the first; nil in the older forms.
    public let arrival: Int64?
    /// RTP.
    public let bytes: [UInt8]
  }

  /// The next thing in the file.
  public enum Item: Sendable, Hashable {
    case header(Header)
    case packet(Packet)
    /// The bytes are no recording; nothing follows.
    case notARecording
  }

  private enum Form { case two, one, none }

  private var form: Form?
  private var buffer: [UInt8] = []
  private var position = 0
  private var isRefused = false
  /// Bytes that belong to no packet.
  public private(set) var skipped = 0

  private static let word = Array("MEETECHO".utf8)

  /// A reader at the start of a file.
  public init() {}

  /// Whether a file that begins with `bytes` (8 of them) is a recording of a form that is known.
  public static func recognises(_ bytes: some Collection<UInt8>) -> Bool {
    let head = Array(bytes.prefix(8))
    return head == Array("MJR00002".utf8) || head == Array("MJR00001".utf8) || head == word
  }

  /// Bytes that were not enough for another item: at the end of the file, what was cut off.
  public var unread: Int { buffer.count - position }

  /// Adds the next bytes of the file.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    if position > 0 {
      buffer.removeFirst(position)
      position = 0
    }
    buffer += bytes
  }

  /// The next item; nil where more bytes are wanted.
  public mutating func next() -> Item? {
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

  /// The last packet of a file, read from its last bytes; nil where they hold none that is whole.
  ///
  /// - Parameters:
  ///   - tail: at least 128 KiB, or all: a packet and its head fit in.
  ///   - hasTimes: whether packets have times of arrival, by the first one of the file.
  public static func lastPacket(inTail tail: [UInt8], hasTimes: Bool) -> Packet? {
    let mark = hasTimes ? word.prefix(4) : word[...]
    for start in 0..<max(0, tail.count - 9) where tail[start] == mark[0] {
      if let last = lastPacket(tail, from: start, mark) { return last }
    }
    return nil
  }

  /// Follows packets from `start` to the end of `tail`, whose last one may be cut off; nil where they
  /// do not lead there.
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
