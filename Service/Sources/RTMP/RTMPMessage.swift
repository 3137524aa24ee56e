/// A complete message, as carried by chunks (RTMP 1.0, 6.1).
struct RTMPMessage: Sendable, Hashable {
  /// The type of a message (RTMP 1.0, 5.4 and 7.1).
  struct Kind: RawRepresentable, Sendable, Hashable {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    static let setChunkSize = Kind(rawValue: 1)
    static let abort = Kind(rawValue: 2)
    static let acknowledgement = Kind(rawValue: 3)
    static let userControl = Kind(rawValue: 4)
    static let windowAcknowledgementSize = Kind(rawValue: 5)
    static let setPeerBandwidth = Kind(rawValue: 6)
    static let audio = Kind(rawValue: 8)
    static let video = Kind(rawValue: 9)
    static let dataAMF3 = Kind(rawValue: 15)
    static let commandAMF3 = Kind(rawValue: 17)
    static let data = Kind(rawValue: 18)
    static let command = Kind(rawValue: 20)
    static let aggregate = Kind(rawValue: 22)
  }

  var kind: Kind
  /// Milliseconds on the sender's clock; wraps after 49.7 days.
  var timestamp: UInt32
  /// The message stream; 0 is the connection itself.
  var stream: UInt32
  var payload: [UInt8]

  /// Creates a message for the connection itself, unless another stream is given.
  init(_ kind: Kind, timestamp: UInt32 = 0, stream: UInt32 = 0, payload: [UInt8]) {
    self.kind = kind
    self.timestamp = timestamp
    self.stream = stream
    self.payload = payload
  }
}
