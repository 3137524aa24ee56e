import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Framing of NAL units in packets")
struct FramingTests {
  private func units(_ packet: [UInt8], _ framing: NALFraming) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var walk = NALUnits(framing.actual(in: packet.span))
    while let range = walk.next(in: packet.span) { found.append(Array(packet[range])) }
    return found
  }

  @Test("The configuration determines the size of lengths")
  func configuration() {
    let h264: [([UInt8], NALFraming)] = [
      ([], .startCodes), ([0, 0, 0, 1, 0x67, 0x64, 0, 31], .startCodes),
      ([0, 0, 1, 0x67, 0x64, 0, 31], .startCodes), ([1, 100, 0, 31, 0xFF, 0xE1, 0], .lengths(4)),
      ([1, 100, 0, 31, 0xFC, 0xE1, 0], .lengths(1)), ([1, 100, 0, 31, 0xFD, 0xE1, 0], .lengths(2)),
      ([1, 100, 0, 31], .startCodes),
    ]
    for (bytes, framing) in h264 {
      #expect(NALFraming(configuration: bytes, codec: .h264) == framing)
    }
    let hvcc = Wrapping.length2.configuration(.hevc)
    #expect(NALFraming(configuration: hvcc, codec: .hevc) == .lengths(2))
    #expect(NALFraming(configuration: [0] + hvcc.dropFirst(), codec: .hevc) == .lengths(2))
    #expect(NALFraming(configuration: hvcc.dropLast(), codec: .hevc) == .startCodes)
    for code in [[0, 0, 0, 1], [0, 0, 1]] as [[UInt8]] {
      let sets = code + [0x40, 1, 0x0C] + [UInt8](repeating: 0xFF, count: 30)
      #expect(NALFraming(configuration: sets, codec: .hevc) == .startCodes)
    }
  }

  @Test("Start codes, long and short, with leading and trailing zeros")
  func startCodes() {
    let packet: [UInt8] = [
      0, 0, 0, 0, 1, 9, 0xF0, 0, 0, 1, 6, 0, 0, 3, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0x65, 0, 1, 0, 2, 0,
      0,
    ]
    #expect(
      units(packet, .startCodes) == [[9, 0xF0], [6, 0, 0, 3, 1], [0x65, 0, 1, 0, 2]])
    for short in [[], [0], [0, 0], [0, 0, 1], [0, 0, 0, 1], [1, 2, 3, 4, 5]] as [[UInt8]] {
      #expect(units(short, .startCodes).isEmpty)
    }
  }

  @Test("Lengths: empty units, past the end, truncated")
  func lengths() {
    #expect(units([0, 2, 9, 0xF0, 0, 0, 0, 1, 7], .lengths(2)) == [[9, 0xF0], [7]])
    #expect(units([0, 0, 0, 9, 1, 2, 3], .lengths(4)) == [[1, 2, 3]])
    #expect(units([0xFF, 0xFF, 0xFF, 0xFF, 6], .lengths(4)) == [[6]])
    #expect(units([0xFF, 0xFF, 0xFF, 0xFF], .lengths(4)).isEmpty)
    #expect(units([0, 0, 0], .lengths(4)).isEmpty)
    #expect(units([0, 0, 0, 1, 7, 0, 0], .lengths(4)) == [[7]])
  }

  @Test("Packets whose framing differs from the configuration", arguments: Codec.allCases)
  func otherwise(codec: Codec) {
    let unit = SyntheticUnit(kind: .idr, pts: 0, message: Message(standing: .right))
    let expected = unit.units(codec)
    for promised in [NALFraming.lengths(1), .lengths(2), .lengths(3), .lengths(4)] {
      #expect(units(unit.bytes(codec, .startCodes), promised) == expected)
      #expect(units(unit.bytes(codec, .shortStartCodes), promised) == expected)
    }
    #expect(units(unit.bytes(codec, .length4), .startCodes) == expected)
  }

  @Test("A length that looks like a start code is read as a length")
  func looksLikeStartCode() {
    // 00 00 01 06: a unit of 262 bytes. 00 00 00 01: a unit of one byte, an end of sequence.
    let long = [UInt8](repeating: 0x41, count: 262)
    #expect(units([0, 0, 1, 6] + long, .lengths(4)) == [long])
    #expect(units([0, 0, 0, 1, 10, 0, 0, 1, 6] + long, .lengths(4)) == [[10], long])
  }

  @Test("Split pictures: slices, fields and messages in separate packets")
  func pieces() {
    let sei = Message(standing: .left).nal(for: .h264)
    let idr = PictureKind.idr.slice(.h264)
    let more = PictureKind.idr.slice(.h264, isFirst: false)
    let field = PictureKind.inter.slice(.h264)
    func tracker(_ packets: [(units: [[UInt8]], pts: Int64?)]) -> DisplayOrientationTracker {
      var tracker = DisplayOrientationTracker(codec: .h264, configuration: [])
      for packet in packets {
        tracker.read(Wrapping.startCodes.packet(packet.units), pts: packet.pts)
      }
      return tracker
    }
    // Further slices of an IDR picture don't start another sequence.
    var slices = tracker([([sei, idr, more], 0), ([more], 0), ([more], nil), ([field], 1)])
    #expect(slices.heldPictures == 2)
    #expect(letter(slices.signal(at: 0)) + letter(slices.signal(at: 1)) == "LL")
    // A message before the picture, in a separate packet.
    var apart = tracker([([sei], 0), ([idr], 0), ([field], 1)])
    #expect(letter(apart.signal(at: 0)) + letter(apart.signal(at: 1)) == "LL")
    // A message after the slices applies to the next picture.
    var behind = tracker([([idr, sei], 0), ([field], 1)])
    #expect(letter(behind.signal(at: 0)) + letter(behind.signal(at: 1)) == "-L")
    // Both fields in one packet are one picture, and so are two packets with the same time.
    var fields = tracker([([sei, idr, field], 0), ([field, field], 1)])
    #expect(fields.heldPictures == 2)
    #expect(letter(fields.signal(at: 0)) + letter(fields.signal(at: 1)) == "LL")
    var twice = tracker([
      ([sei, idr], 0), ([field], 0), ([field], 1), ([field], nil), ([field], 2),
    ])
    #expect([0, 1, 2].map { letter(twice.signal(at: $0)) } == ["L", "L", "L"])
    // The first slice was lost: it is still a picture.
    var lost = tracker([
      ([idr], 0), ([sei, Array(PictureKind.inter.slice(.h264, isFirst: false))], 1),
    ])
    #expect(letter(lost.signal(at: 0)) + letter(lost.signal(at: 1)) == "-L")
  }

  @Test("Parameter sets are added to a packet that has none, after its delimiter")
  func addedSets() {
    func added(
      _ packet: [UInt8], _ framing: NALFraming, _ codec: DisplayOrientationTracker.Codec = .h264
    ) -> [UInt8]? {
      unsafe packet.withUnsafeBytes { bytes in
        unsafe framing.adding([[0x67, 1], [0x68]], to: bytes, codec: codec)
      }
    }
    let frame: [UInt8] = [0, 2, 0x65, 7]
    #expect(added(frame, .lengths(2)) == [0, 2, 0x67, 1, 0, 1, 0x68] + frame)
    let delimited: [UInt8] = [0, 2, 9, 0xF0]
    #expect(
      added(delimited + frame, .lengths(2)) == delimited + [0, 2, 0x67, 1, 0, 1, 0x68] + frame)
    let hevc: [UInt8] = [0, 3, 35 << 1, 1, 0x50]
    let frames: [UInt8] = [0, 3, 19 << 1, 1, 7]
    let sets: [UInt8] = [0, 2, 0x67, 1, 0, 1, 0x68]
    #expect(added(hevc + frames, .lengths(2), .hevc) == hevc + sets + frames)
    // With damage at the end, all bytes are kept.
    #expect(added(frame + [0, 9, 1], .lengths(2))?.suffix(7) == frame[...] + [0, 9, 1])
    #expect(added([0, 1, 0x68] + frame, .lengths(2)) == nil)
    #expect(added([0, 0, 1, 0x65, 7, 8, 9], .startCodes) == nil)
    #expect(added([], .lengths(2)) == nil)
  }

  @Test("Pictures of other layers are ignored")
  func layers() {
    var tracker = DisplayOrientationTracker(codec: .hevc, configuration: [])
    let other: [UInt8] = [19 << 1, 1 << 3 | 1, 0x88, 0x11]
    for (index, unit) in stream("I0=L1 P1 P2").enumerated() {
      tracker.read(Wrapping.startCodes.packet(unit.units(.hevc) + [other]), pts: Int64(index))
    }
    #expect((0..<3).map { letter(tracker.signal(at: $0)) } == ["L", "L", "L"])
  }
}
