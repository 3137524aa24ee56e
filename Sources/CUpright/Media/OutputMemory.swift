internal import CUprightHeader
internal import CUprightPolicy
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFrames
internal import UprightLive

/// The memory that an element of the output points to.
@safe final class OutputMemory {
  private var bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
  private var capacity = 1
  private var json: UnsafeMutablePointer<CChar>?
  private var codec: UnsafeMutablePointer<CChar>?

  deinit {
    unsafe bytes.deallocate()
    unsafe free(json)
    unsafe free(codec)
  }

  /// Copies an element, and lets the caller's struct, whose size is kept, point to the copies.
  func store(
    _ element: PacketOutput, _ timeBase: upright_rational, into output: inout upright_output
  ) {
    unsafe free(json)
    unsafe json = nil
    let size = unsafe output.size
    unsafe output = upright_output()
    unsafe output.size = size
    switch element {
    case .format(let change, let description):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_FORMAT)
      unsafe json = owned(change.json.compact)
      unsafe free(codec)
      unsafe codec = owned(description.codec.rawValue)
      unsafe output.stream.size = MemoryLayout<upright_stream>.size
      unsafe output.stream.codec = UnsafePointer(codec)
      unsafe output.stream.extradata = copy(description.extradata)
      unsafe output.stream.extradata_size = description.extradata.count
      unsafe output.stream.width = Int32(clamping: description.size?.width ?? 0)
      unsafe output.stream.height = Int32(clamping: description.size?.height ?? 0)
      unsafe output.stream.time_base = timeBase
    case .packet(let packet):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_PACKET)
      unsafe output.packet = upright_packet(packet, copy(packet.bytes))
    case .decision(let decision):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_DECISION)
      unsafe json = owned(decision.json.compact)
    case .refused(let error):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_REFUSED)
      unsafe json = owned(JSONValue.string(error.description).compact)
    }
    unsafe output.json = UnsafePointer(json)
  }

  private func copy(_ source: [UInt8]) -> UnsafePointer<UInt8> {
    if source.count > capacity {
      unsafe bytes.deallocate()
      capacity = source.count
      unsafe bytes = .allocate(capacity: capacity)
    }
    unsafe source.withUnsafeBufferPointer {
      if let start = $0.baseAddress { unsafe bytes.update(from: start, count: $0.count) }
    }
    return unsafe UnsafePointer(bytes)
  }
}

extension upright_packet {
  fileprivate init(_ packet: EncodedPacket, _ copy: UnsafePointer<UInt8>) {
    unsafe self.init()
    unsafe size = MemoryLayout<upright_packet>.size
    unsafe bytes = copy
    unsafe length = packet.bytes.count
    unsafe pts = packet.pts
    unsafe dts = packet.dts ?? .min
    unsafe duration = packet.duration
    unsafe time_base.numerator = Int32(clamping: packet.timeBase.numerator)
    unsafe time_base.denominator = Int32(clamping: packet.timeBase.denominator)
    unsafe track = Int32(packet.track == .audio ? UPRIGHT_AUDIO : UPRIGHT_VIDEO)
    unsafe is_key = packet.isKey ? 1 : 0
    unsafe has_cvo = packet.cvo == nil ? 0 : 1
    unsafe cvo = Int32(packet.cvo?.byte(.sixBits) ?? 0)
  }
}
