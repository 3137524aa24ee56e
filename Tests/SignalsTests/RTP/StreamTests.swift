import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("RTP streams: order, loss, timestamps and CVO")
struct StreamTests {
  /// A sender of a VP8 stream with one packet per frame.
  struct Sender {
    var rtp = RTPSender(.vp8)
    var packets: [[UInt8]] = []

    init(sequence: UInt16 = 1000, timestamp: UInt32 = 50_000) {
      rtp.sequence = sequence
      rtp.timestamp = timestamp
    }

    /// Sends frame `index` at 30 frames per second. The first byte marks a keyframe, the next two contain the
    /// index.
    mutating func send(_ index: Int, ticks: Int? = nil, cvo: UInt8? = nil, isKey: Bool? = nil) {
      let isKey = isKey ?? (index % 10 == 0)
      let bytes: [UInt8] = [isKey ? 0 : 1, UInt8(index >> 8), UInt8(index & 255)]
      packets += rtp.packets(
        EncodedFrame(bytes: bytes, isKey: isKey), ticks: ticks ?? index * 3000, cvo: cvo)
    }
  }

  static func run(
    _ packets: [[UInt8]], arrivals: [Int64]? = nil, capacity: Int = 512, startingDepth: Int = 16,
    uris: [Int: String] = [4: "urn:3gpp:video-orientation"]
  ) -> (units: [AccessUnit], statistics: RTPStatistics) {
    var stream = RTPStream(
      codec: .vp8, orientation: OrientationExtension(uris), capacity: capacity,
      startingDepth: startingDepth)
    var units: [AccessUnit] = []
    for (index, packet) in packets.enumerated() {
      units += stream.receive(packet, arrival: arrivals?[index])
    }
    units += stream.finish()
    return (units, stream.statistics)
  }

  private static func numbers(_ units: [AccessUnit]) -> [Int] {
    units.map { Int($0.bytes[1]) << 8 | Int($0.bytes[2]) }
  }

  private static func sender(_ count: Int, sequence: UInt16 = 1000, timestamp: UInt32 = 50_000)
    -> Sender
  {
    var sender = Sender(sequence: sequence, timestamp: timestamp)
    for index in 0..<count { sender.send(index) }
    return sender
  }

  @Test("Packets in order give every frame with its timestamp and keyframe flag")
  func plain() {
    let (units, statistics) = Self.run(Self.sender(40).packets)
    #expect(Self.numbers(units) == Array(0..<40))
    #expect(units.map(\.ticks) == Array(stride(from: 0, to: 40 * 3000, by: 3000)))
    #expect(units.enumerated().allSatisfy { $1.isKey == ($0 % 10 == 0) })
    #expect(units.allSatisfy { !$0.isIncomplete && !$0.followsLoss && $0.cvo == nil })
    #expect(statistics.received == 40 && statistics.lost == 0)
  }

  @Test("Sequence numbers and timestamps may wrap")
  func wrap() {
    let (units, statistics) = Self.run(
      Self.sender(300, sequence: 65_400, timestamp: .max - 100_000).packets)
    #expect(Self.numbers(units) == Array(0..<300))
    #expect(units.map(\.ticks) == Array(stride(from: 0, to: 300 * 3000, by: 3000)))
    #expect(statistics.lost == 0 && statistics.restarts == 0)
  }

  @Test("Packets out of order, also at the start and across a wrap, and duplicates")
  func shuffled() {
    var random = SeededGenerator()
    var packets = Self.sender(200, sequence: 65_500).packets
    for start in stride(from: 0, to: 200, by: 8) {
      packets[start..<start + 8].shuffle(using: &random)
    }
    packets.insert(packets[20], at: 30)
    packets.insert(packets[150], at: 150)
    let (units, statistics) = Self.run(packets)
    #expect(Self.numbers(units) == Array(0..<200), "seed \(random.seed)")
    #expect(Set(zip(units.dropFirst(), units).map { $0.ticks - $1.ticks }) == [3000])
    #expect(statistics.duplicates == 2 && statistics.lost == 0 && statistics.late == 0)
  }

  @Test("Lost packets are counted, and dependent frames are flagged up to the next keyframe")
  func loss() {
    var packets = Self.sender(40).packets
    packets.removeSubrange(13..<15)
    let (units, statistics) = Self.run(packets, capacity: 8)
    #expect(Self.numbers(units) == Array(0..<13) + Array(15..<40))
    #expect(Self.numbers(units.filter(\.followsLoss)) == Array(15..<20))
    #expect(!units.contains { $0.isIncomplete })
    #expect(statistics.lost == 2 && statistics.dependentFrames == 5)
  }

  @Test("A packet that was given up counts as late and as lost")
  func late() {
    var packets = Self.sender(40).packets
    packets.insert(packets.remove(at: 5), at: 30)
    let (units, statistics) = Self.run(packets, capacity: 4, startingDepth: 1)
    #expect(!Self.numbers(units).contains(5))
    #expect(statistics.late == 1 && statistics.lost == 1 && statistics.duplicates == 0)
    // A deeper buffer waits for it.
    #expect(Self.numbers(Self.run(packets).units) == Array(0..<40))
  }

  @Test("Each packet of a frame is lost in turn")
  func parts() {
    let key = EncodedFrame(bytes: [0] + (1..<50).map(UInt8.init), isKey: true)
    let inter = EncodedFrame(bytes: [1] + (1..<50).map(UInt8.init), isKey: false)
    for lost in 0..<5 {
      var rtp = RTPSender(.vp8)
      rtp.size = 10
      var packets = rtp.packets(key, ticks: 0)
      var second = rtp.packets(inter, ticks: 3000)
      #expect(second.count == 5)
      second.remove(at: lost)
      packets += second
      for index in 2..<6 { packets += rtp.packets(inter, ticks: index * 3000) }
      packets += rtp.packets(key, ticks: 18_000)
      let (units, statistics) = Self.run(packets, capacity: 20)
      // A frame without its first packet is unusable.
      #expect(units.count == (lost == 0 ? 6 : 7), "packet \(lost)")
      #expect(units.filter(\.isIncomplete).map(\.ticks) == (lost == 0 ? [] : [3000]))
      #expect(units.filter(\.isIncomplete).map(\.bytes.count) == (lost == 0 ? [] : [lost * 10]))
      #expect(statistics.incompleteFrames == (lost == 0 ? 0 : 1))
      #expect(statistics.unusableFrames == (lost == 0 ? 1 : 0))
      #expect(statistics.dependentFrames == 4)
      #expect(units.last?.followsLoss == false)
    }
  }

  @Test("A restarted source continues the timeline, by arrival time if it is known")
  func restart() {
    var first = Sender()
    for index in 0..<30 { first.send(index) }
    var second = Sender(sequence: 40_000, timestamp: 3_000_000_000)
    second.rtp.ssrc = 99
    for index in 30..<60 { second.send(index) }
    let packets = first.packets + second.packets
    // Half a second passes between them.
    let arrivals = (0..<60).map { index -> Int64 in
      Int64(index * 33) + (index >= 30 ? 500 : 0)
    }
    for times in [arrivals, nil] as [[Int64]?] {
      let (units, statistics) = Self.run(packets, arrivals: times)
      #expect(Self.numbers(units) == Array(0..<60))
      #expect(statistics.restarts == 1 && statistics.strays == 0)
      let steps = zip(units.dropFirst(), units).map { $0.ticks - $1.ticks }
      #expect(steps.enumerated().allSatisfy { $0 == 29 || $1 == 3000 })
      let expected: ClosedRange<Int64> = times == nil ? 3000...3000 : 45_000...50_000
      #expect(expected.contains(steps[29]))
    }
  }

  @Test("A restart with packets out of order loses none of them")
  func shuffledRestart() {
    let first = Self.sender(30)
    var second = Sender(sequence: 9, timestamp: 77)
    second.rtp.ssrc = 1
    for index in 30..<60 { second.send(index) }
    second.packets.swapAt(0, 2)
    let (units, statistics) = Self.run(first.packets + second.packets)
    #expect(Self.numbers(units) == Array(0..<60))
    #expect(statistics.restarts == 1 && statistics.strays == 0)
  }

  @Test("Single packets of another stream are ignored")
  func strays() {
    var packets = Self.sender(40).packets
    var other = Sender(sequence: 20_000)
    other.rtp.ssrc = 5
    for index in 100..<103 { other.send(index) }
    for (index, packet) in other.packets.enumerated() { packets.insert(packet, at: 10 + index * 5) }
    let (units, statistics) = Self.run(packets)
    #expect(Self.numbers(units) == Array(0..<40))
    #expect(statistics.strays == 3 && statistics.restarts == 0)
  }

  @Test("Timestamps: pauses are kept, jumps are removed, frames may go back")
  func clock() {
    // The input is ticks and arrival times in milliseconds; the output is ticks.
    let rows: [(String, [(UInt32, Int64?)], [Int64])] = [
      ("a pause of a minute", [(0, 0), (3000, 33), (5_403_000, 60_033)], [0, 3000, 5_403_000]),
      ("a delayed packet", [(0, 0), (3000, 9000), (6000, 9001)], [0, 3000, 6000]),
      ("a jump of an hour", [(0, 0), (3000, 33), (324_003_000, 66)], [0, 3000, 6000]),
      ("a jump back", [(9_000_000, 0), (9_003_000, 33), (6000, 66)], [0, 3000, 6000]),
      ("a jump with a pause", [(0, 0), (3000, 33), (2_000_000_000, 2033)], [0, 3000, 183_000]),
      ("decoding order", [(0, 0), (9000, 33), (3000, 66), (6000, 99)], [0, 9000, 3000, 6000]),
      ("wrap", [(.max - 999, 0), (2000, 33)], [0, 3000]),
      ("wrap back", [(0, 0), (.max - 2999, 33), (3000, 66)], [0, -3000, 3000]),
      ("a pause, times unknown", [(0, nil), (5_400_000, nil)], [0, 5_400_000]),
      (
        "a jump, times unknown", [(0, nil), (400_000_000, nil), (400_003_000, nil)],
        [0, 3000, 6000]
      ),
    ]
    for (name, packets, expected) in rows {
      var clock = MediaClock(rate: 90_000)
      let ticks = packets.map { clock.ticks(of: $0.0, arrival: $0.1, isRestart: false) }
      #expect(ticks == expected, "\(name)")
    }
    var clock = MediaClock(rate: 90_000)
    var random = SeededGenerator()
    for _ in 0..<10_000 {
      let ticks = clock.ticks(
        of: .random(in: 0...UInt32.max, using: &random),
        arrival: Bool.random(using: &random) ? .random(in: 0...0xFFFF_FFFF, using: &random) : nil,
        isRestart: Bool.random(using: &random))
      #expect(abs(ticks) < 1 << 57, "seed \(random.seed)")
    }
  }

  // MARK: - CVO

  private static func turns(_ cvo: [UInt8?], form: RTPSender.ExtensionForm = .oneByte) -> [Int?] {
    var sender = Sender()
    sender.rtp.form = form
    for (index, byte) in cvo.enumerated() { sender.send(index, cvo: byte, isKey: index == 0) }
    return run(sender.packets).units.map { $0.cvo?.orientation?.clockwiseDegrees }
  }

  @Test(
    "CVO applies from the frame that carries it",
    arguments: [RTPSender.ExtensionForm.oneByte, .twoByte])
  func orientation(_ form: RTPSender.ExtensionForm) {
    // libwebrtc sends the value with every frame while it is not 0, and once when it becomes 0.
    #expect(
      Self.turns([0, nil, 1, 1, 1, 0, nil, 3, 3, 2], form: form)
        == [0, 0, 90, 90, 90, 0, 0, 270, 270, 180])
    // For libwebrtc's receiver, a missing value means 0 if the sender repeats values other than 0.
    #expect(Self.turns([1, 1, nil, nil, 2, nil], form: form) == [90, 90, 0, 0, 180, 0])
    // TS 26.114: the value is sent with keyframes, and when it changes.
    #expect(Self.turns([1, nil, nil, 2, nil, nil], form: form) == [90, 90, 90, 180, 180, 180])
    // No value was sent yet.
    #expect(Self.turns([nil, nil, 1, nil], form: form) == [nil, nil, 90, 90])
  }

  @Test("CVO of the last packet applies, and a lost last packet does not reset it")
  func orientationOfParts() {
    var rtp = RTPSender(.vp8)
    rtp.size = 10
    let key = EncodedFrame(bytes: [UInt8](repeating: 0, count: 30), isKey: true)
    let inter = EncodedFrame(bytes: [UInt8](repeating: 1, count: 30), isKey: false)
    var packets = rtp.packets(key, ticks: 0, cvo: 1) + rtp.packets(inter, ticks: 3000, cvo: 1)
    // The last packet of the third frame, which repeats the value, is lost.
    packets += rtp.packets(inter, ticks: 6000, cvo: 1).dropLast()
    packets += rtp.packets(inter, ticks: 9000, cvo: 1)
    let (units, _) = Self.run(packets, capacity: 4, startingDepth: 1)
    #expect(units.map { $0.cvo?.orientation } == [.right, .right, .right, .right])
    #expect(units.map(\.isIncomplete) == [false, false, true, false])
  }

  @Test("An extension without a mapped URI is ignored")
  func unmapped() {
    var sender = Sender()
    for index in 0..<3 { sender.send(index, cvo: 1) }
    for uris in [[:], [5: "urn:3gpp:video-orientation"], [4: "urn:x"]] as [[Int: String]] {
      #expect(Self.run(sender.packets, uris: uris).units.allSatisfy { $0.cvo == nil })
    }
  }

  // MARK: - Captures and damaged input

  @Test(
    "A capture of libwebrtc: 171 VP8 packets, and RTCP",
    .clips("rtp/vp8.rtpdump"))
  func capture() throws {
    let file = [UInt8](try Data(contentsOf: SharedFiles.url("clips/rtp/vp8.rtpdump")))
    // rtpplay format: a line of text, 16 bytes, then records: length, RTP length (0 for RTCP), milliseconds.
    var place = try #require(file.firstIndex(of: 10)) + 17
    var stream = RTPStream(codec: .vp8)
    var units: [AccessUnit] = []
    var markers = 0
    while place + 8 <= file.count {
      let length = file.bigEndian(at: place, count: 2)
      guard length >= 8, place + length <= file.count else { break }
      let packet = Array(file[place + 8..<place + length])
      if !RTPPacket.isControl(packet), RTPPacket(packet)?.hasMarker == true { markers += 1 }
      units += stream.receive(packet, arrival: Int64(file.bigEndian(at: place + 4, count: 4)))
      place += length
    }
    units += stream.finish()
    #expect(stream.statistics.received == 171)
    #expect(stream.statistics.malformed == 0 && stream.statistics.strays == 0)
    #expect(units.count == markers && markers > 30)
    #expect(units.first?.isKey == true)
    // The frame tag of a keyframe is followed by a start code and the size, here 640x480.
    #expect(
      units.first?.bytes.dropFirst(3).prefix(7).elementsEqual(hex("9d012a 8002 e001")) == true)
    #expect(zip(units.dropFirst(), units).allSatisfy { $0.ticks > $1.ticks })
  }

  @Test("Random packets that are lost, duplicated or damaged never cause a trap")
  func hostile() {
    var random = SeededGenerator()
    for codec in RTPCodec.allCases {
      var stream = RTPStream(
        codec: codec, orientation: OrientationExtension([4: "urn:3gpp:video-orientation"]),
        redundancy: 97, capacity: 16)
      var sender = RTPSender(RTPSender.Codec(rawValue: codec.rawValue) ?? .plain)
      sender.size = 20
      var units = 0
      for index in 0..<400 {
        let bytes = (0..<Int.random(in: 1...80, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        if Int.random(in: 0...40, using: &random) == 0 { sender.ssrc = .random(in: 0...3) }
        if Int.random(in: 0...40, using: &random) == 0 {
          sender.sequence = .random(in: 0...UInt16.max, using: &random)
          sender.timestamp = .random(in: 0...UInt32.max, using: &random)
        }
        sender.payloadType = Bool.random(using: &random) ? 96 : 97
        let frame = EncodedFrame(bytes: [0, 0, 1] + bytes, isKey: Bool.random(using: &random))
        for var packet in sender.packets(frame, ticks: index * 3000, cvo: bytes[0]) {
          switch Int.random(in: 0...9, using: &random) {
          case 0: continue
          case 1:
            let place = Int.random(in: 0..<packet.count, using: &random)
            packet[place] = UInt8.random(in: 0...255, using: &random)
          case 2: packet.removeLast(Int.random(in: 0...packet.count, using: &random))
          case 3: units += stream.receive(packet).count
          default: break
          }
          units +=
            stream.receive(packet, arrival: Int64.random(in: 0...1 << 32, using: &random)).count
        }
      }
      units += stream.finish().count
      let statistics = stream.statistics
      #expect(units > 0 && statistics.received > 0, "\(codec) seed \(random.seed)")
    }
  }

  @Test("A stream without markers is split at its timestamps, and an endless frame is bounded")
  func unmarked() {
    var sender = Self.sender(20)
    for index in sender.packets.indices { sender.packets[index][1] &= 0x7F }
    let units = Self.run(sender.packets).units
    #expect(Self.numbers(units) == Array(0..<20))
    // Only the last frame may be incomplete.
    #expect(units.map(\.isIncomplete) == (0..<20).map { $0 == 19 })

    var endless = RTPSender(.vp8)
    let body = [UInt8](repeating: 0x10, count: 60_000)
    var stream = RTPStream(codec: .vp8, startingDepth: 1)
    for _ in 0..<700 {
      _ = stream.receive(endless.packet(body, ticks: 0, isLast: false, cvo: nil))
    }
    let rest = stream.finish()
    #expect(rest.count == 1 && rest[0].isIncomplete)
    #expect(rest[0].bytes.count <= 32 << 20)
  }

  @Test("A missing packet is waited for no longer than the limit, by the arrival of later ones")
  func longestWait() {
    func delays(_ longestWait: Int64?) -> [Int64] {
      var sender = RTPSender(.plain)
      var stream = RTPStream(codec: .pcmu, longestWait: longestWait)
      var delays: [Int64] = []
      for index in 0..<100 {
        let packet = sender.packet([UInt8(index)], ticks: index * 160, isLast: false, cvo: nil)
        if index == 50 { continue }
        let arrival = Int64(index) * 20
        delays += stream.receive(packet, arrival: arrival).map { arrival - $0.ticks / 8 }
      }
      return delays + stream.finish().map { 99 * 20 - $0.ticks / 8 }
    }
    // At the start, 16 packets are sorted.
    #expect(delays(300).max() == 300 && delays(300).count == 99)
    #expect(delays(100).max() == 100 && delays(100).last == 0)
    #expect(delays(nil).max() == 960)
  }

  @Test("Parameter sets with a separate timestamp belong to the next frame")
  func preface() {
    var rtp = RTPSender(.h264)
    var packets: [[UInt8]] = []
    for (ticks, text) in [
      (0, "00000001 6701 00000001 6802"), (3000, "00000001 6588 00000001 06050101"),
      (6000, "00000001 419a"),
    ] {
      packets += rtp.packets(EncodedFrame(bytes: hex(text), isKey: false), ticks: ticks)
    }
    var stream = RTPStream(codec: .h264)
    let units = packets.flatMap { stream.receive($0) } + stream.finish()
    #expect(units.map(\.ticks) == [3000, 6000])
    #expect(units.map(\.isKey) == [true, false])
    #expect(
      units.first?.bytes
        == hex("00000001 6701 00000001 6802 00000001 6588 00000001 06050101"))
    #expect(stream.statistics.unusableFrames == 0)
  }

  @Test("Audio: one packet per frame, RED's primary block, no comfort noise")
  func audio() {
    var sender = RTPSender(.plain)
    var packets: [[UInt8]] = []
    for index in 0..<20 {
      sender.payloadType = index % 5 == 4 ? 13 : index % 2 == 0 ? 0 : 97
      let redundancy: [UInt8] = sender.payloadType == 97 ? [0x80, 0, 0, 1, 0, 7] : []
      let body = redundancy + [UInt8(index)]
      packets.append(sender.packet(body, ticks: index * 160, isLast: false, cvo: nil))
    }
    var stream = RTPStream(codec: .pcmu, redundancy: 97)
    let units = packets.flatMap { stream.receive($0) } + stream.finish()
    let expected: [[UInt8]] = (0..<20).filter { $0 % 5 != 4 }.map { [UInt8($0)] }
    #expect(units.map(\.bytes) == expected)
    #expect(units.allSatisfy { $0.isKey && $0.ticks % 160 == 0 })
    #expect(stream.statistics.lost == 0 && stream.statistics.malformed == 0)
  }

  @Test("A packet waits for a missing one only for a time; one that comes within it is used")
  func expiry() {
    let packets = Self.sender(12).packets
    var stream = RTPStream(codec: .vp8, startingDepth: 4, longestWait: 100)
    var units: [AccessUnit] = []
    for index in [0, 1, 2, 3, 5, 6] {
      units += stream.receive(packets[index], arrival: Int64(index) * 33)
    }
    #expect(Self.numbers(units) == [0, 1, 2, 3])
    // Frame 5 arrived at 165 ms.
    units += stream.expire(at: 264)
    #expect(Self.numbers(units) == [0, 1, 2, 3])
    units += stream.receive(packets[4], arrival: 264)
    #expect(Self.numbers(units) == Array(0..<7))
    for index in [8, 9] { units += stream.receive(packets[index], arrival: Int64(index) * 33) }
    // Gives up frame 7 for frame 8; what follows frame 8 is released too.
    units += stream.expire(at: 8 * 33 + 100)
    #expect(Self.numbers(units) == [0, 1, 2, 3, 4, 5, 6, 8, 9])
    #expect(stream.statistics.lost == 1)
    units += stream.receive(packets[7], arrival: 400)
    #expect(stream.statistics.late == 1)
    #expect(stream.expire(at: .max).isEmpty)
  }

  @Test("The first packets are released after the time too")
  func startingExpiry() {
    let packets = Self.sender(3).packets
    var stream = RTPStream(codec: .vp8, longestWait: 100)
    var units: [AccessUnit] = []
    for index in [1, 0, 2] { units += stream.receive(packets[index], arrival: Int64(index)) }
    #expect(units.isEmpty)
    #expect(Self.numbers(stream.expire(at: 101)) == [0, 1, 2])
    #expect(stream.ticks(near: 50_000 + 9000) == 9000)
  }
}
