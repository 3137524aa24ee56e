import Foundation
import UprightOrientation
import UprightTestSupport

@testable import UprightMedia
@testable import UprightFiles
@testable import UprightMediaIO

/// A file some of whose GOPs are decoded and re-encoded, between the others, which are copied.
struct SplicedFile {
  /// Whether each packet was copied, in decoding order.
  private(set) var copied: [Bool] = []
  /// The index of the first packet of each GOP.
  private(set) var starts: [Int] = []
  private(set) var join: StreamMerger

  struct Failure: Error { let description: String }

  private final class Box {
    var packet: Packet?
    init(_ packet: consuming Packet) { self.packet = consume packet }
  }

  /// The stream parameters, read before anything is decoded.
  private struct Plan {
    let video: StreamInfo
    var sets: InBandParameterSets
    var kinds: [EntryKind] = []

    init(_ path: String) throws {
      let demuxer = try Demuxer(url: path)
      video = try SplicedFile.video(demuxer)
      sets = InBandParameterSets(video)
      let entries = EntryPointReader(video)
      while let packet = try demuxer.read() {
        guard packet.streamIndex == video.index else { continue }
        kinds.append(entries.kind(of: packet))
        sets.read(packet)
      }
    }
  }

  private static func video(_ demuxer: Demuxer) throws -> StreamInfo {
    guard let video = demuxer.container.streams.first(where: { $0.kind == .video }) else {
      throw Failure(description: "no video stream")
    }
    return video
  }

  /// Returns the join of the file's video stream with encoded GOPs.
  static func join(_ path: String, _ container: OutputContainer) throws -> StreamMerger {
    let plan = try Plan(path)
    return try StreamMerger(plan.video, sets: plan.sets, container: container)
  }

  /// - Parameters:
  ///   - replaced: The indices of the GOPs to encode.
  ///   - change: Changes the encoder settings before they are matched.
  init(
    _ source: String, to path: String, replaced: Set<Int>,
    change: (inout VideoEncoder.Settings) -> Void = { _ in }
  ) throws {
    let plan = try Plan(source)
    let container = try OutputContainer(target: path)
    join = try StreamMerger(plan.video, sets: plan.sets, container: container)
    starts = plan.kinds.indices.filter { plan.kinds[$0] == .closed }
    var wanted = VideoEncoder.Settings(
      codec: .h264, size: plan.video.parameters.size, format: .yuv420p, colour: Colour(),
      timeBase: plan.video.timeBase)
    (wanted.frameRate, wanted.threads) = (plan.video.frameRate, 1)
    change(&wanted)
    let demuxer = try Demuxer(url: source)
    var gops: [[Box]] = []
    while let packet = try demuxer.read() {
      guard packet.streamIndex == plan.video.index else { continue }
      let count = gops.reduce(0) { $0 + $1.count }
      if starts.contains(count) { gops.append([]) }
      gops[gops.count - 1].append(Box(packet))
    }
    var colour = wanted.colour
    var encoded: [Int: [Box]] = [:]
    var parameters: CodecParameters?
    for index in replaced.sorted() {
      let packets = try decoded(plan.video, gops[index]) { frame in colour = frame.colour }
      wanted.colour = colour
      let encoder = try VideoEncoder(join.settings(wanted))
      encoded[index] = try Self.encode(packets, encoder, join)
      parameters = try join.parameters(encoded: encoder.parameters())
      let times = gops[index].map { $0.packet?.dts }
      for (box, time) in zip(encoded[index] ?? [], times) { box.packet?.dts = time }
    }
    guard let parameters else { throw Failure(description: "nothing is encoded") }
    let muxer = try Muxer(format: container.muxer, target: .url(path))
    let track = try muxer.addCopy(
      of: plan.video, parameters: parameters, timeBase: plan.video.timeBase, metadata: [:])
    try muxer.writeHeader()
    for index in gops.indices {
      for box in encoded[index] ?? gops[index] {
        guard let packet = box.packet.take() else { continue }
        copied.append(encoded[index] == nil)
        try muxer.write(packet, stream: track)
      }
    }
    try muxer.finish()
  }

  private final class Pictures {
    var frames: [FrameBox] = []
  }

  private final class FrameBox {
    var frame: VideoFrame?
    init(_ frame: consuming VideoFrame) { self.frame = consume frame }
  }

  private func decoded(
    _ video: StreamInfo, _ gop: [Box], look: (borrowing VideoFrame) -> Void
  ) throws -> Pictures {
    let decoder = try VideoDecoder(stream: video, threads: 1)
    let pictures = Pictures()
    func drain() throws {
      while let frame = try decoder.receive() {
        look(frame)
        pictures.frames.append(FrameBox(frame))
      }
    }
    for box in gop {
      guard let packet = box.packet.take() else { continue }
      while !decoder.send(packet) { try drain() }
      box.packet = consume packet
      try drain()
    }
    decoder.finish()
    try drain()
    if pictures.frames.count != gop.count || decoder.damagedPackets > 0 {
      throw Failure(
        description: "\(pictures.frames.count) of \(gop.count) frames decoded")
    }
    return pictures
  }

  private static func encode(
    _ pictures: Pictures, _ encoder: VideoEncoder, _ join: StreamMerger
  ) throws -> [Box] {
    var packets: [Box] = []
    func drain() throws {
      while let packet = try encoder.receive() { packets.append(Box(try join.adapted(packet))) }
    }
    for box in pictures.frames {
      guard var frame = box.frame.take() else { continue }
      frame.forcesKeyframe = packets.isEmpty && box === pictures.frames[0]
      try encoder.send(frame)
      try drain()
    }
    try encoder.finish()
    try drain()
    return packets
  }
}
