internal import MediaIO

/// What a packet is as a place to begin decoding.
enum EntryKind: Sendable, Hashable {
  /// Nothing behind it in decoding order needs anything in front of it.
  case closed
  /// Decoding can begin here, but pictures that follow it and are shown before it need earlier ones.
  case open
  /// Decoding cannot begin here.
  case none
}

/// Tells the entry points of one stream from its packets.
struct EntryPointReader: Sendable {
  init(_ video: StreamInfo) {}

  /// What the packet is. O(the bytes up to its first slice).
  func kind(of packet: borrowing Packet) -> EntryKind { packet.isKey ? .closed : .none }
}
