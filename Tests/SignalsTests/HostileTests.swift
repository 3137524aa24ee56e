import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Hostile input: no trap, no growth")
struct HostileTests {
  @Test("Every prefix of every unit is read or skipped", arguments: Codec.allCases)
  func prefixes(codec: Codec) {
    let messages: [Message] =
      [.cancel]
      + ImageOrientation.allCases.flatMap { orientation in
        [0, 1, 3, 16384].map {
          Message.set(SEIDisplayOrientation(orientation), repetitionPeriod: $0)
        }
      }
    for message in messages {
      let nal = message.nal(for: codec)
      let read = Message.messages(inNAL: nal, codec: codec)
      for count in 0...nal.count {
        let cut = Array(nal.prefix(count))
        let found = Message.messages(inNAL: cut, codec: codec)
        // Complete without its trailing bits, never a part of a message.
        #expect(found == (count >= nal.count - 1 ? read : []), "\(cut)")
        for wrapping in Wrapping.allCases {
          var tracker = DisplayOrientationTracker(
            codec: codec, configuration: wrapping.configuration(codec))
          let packet = wrapping.packet([nal, PictureKind.idr.slice(codec)])
          tracker.read(Array(packet.prefix(count)), pts: 0)
          tracker.read(wrapping.packet([cut, PictureKind.idr.slice(codec)]), pts: 1)
          tracker.read(Array(packet.dropFirst(count)), pts: 2)
          _ = tracker.signal(at: 2)
        }
      }
    }
  }

  /// The optimizer freed the copy of a unit before it wrote it. `make fuzz TARGET=parameters`
  /// detects that.
  @Test("Units of an hvcC that are not parameter sets are kept unchanged")
  func otherUnits() throws {
    let head = [1, 1] + [UInt8](repeating: 0, count: 19) + [3]
    let other: [UInt8] = [39, 0, 2, 0, 3, 78, 1, 47, 0, 2, 78, 1]
    let configuration = try DecoderConfiguration(head + [1] + other, codec: .hevc)
    #expect(configuration.sets.isEmpty)
    let written = try configuration.with([])
    #expect(written.suffix(other.count) == other[...])
    for count in 23..<head.count + 1 + other.count {
      #expect(throws: MalformedSyntax.self) {
        try DecoderConfiguration(Array((head + [1] + other).prefix(count)), codec: .hevc)
      }
    }
  }

  @Test("An HEVC sequence without a size is invalid", arguments: [(64, 48), (0, 48), (64, 0)])
  func size(width: UInt16, height: UInt16) throws {
    var bits = BitWriter()
    bits.append(0, count: 8)
    for _ in 0..<3 { bits.append(0x5555_5555, count: 32) }
    // Identifier, chroma_format_idc, size; then no conformance window, depths, order count.
    for value in [0, 1, width, height] { bits.appendExponentialGolomb(value) }
    bits.append(0, count: 1)
    for value in [UInt16](repeating: 0, count: 3) { bits.appendExponentialGolomb(value) }
    bits.append(0, count: 1)
    for value in [UInt16](repeating: 0, count: 3) { bits.appendExponentialGolomb(value) }
    let unit = [66, 1] + EmulationPrevention.escaped(bits.trailed())
    let set = try #require(try ParameterSet(unit: unit, codec: .hevc))
    let read = try? SequenceParameters(set)
    #expect(read?.size == (width > 0 && height > 0 ? PixelSize(64, 48) : nil))
  }

  @Test("Random bytes, in every framing")
  func noise() {
    var random = SeededGenerator()
    print("HostileTests.noise: UPRIGHT_SEED=\(random.seed)")
    for codec in Codec.allCases {
      for wrapping in Wrapping.allCases {
        var tracker = DisplayOrientationTracker(
          codec: codec, configuration: wrapping.configuration(codec))
        var scanner = DisplayOrientationScanner(
          codec: codec, configuration: wrapping.configuration(codec))
        for _ in 0..<1500 {
          let packet = noisePacket(codec, wrapping, &random)
          let pts = noisePTS(&random)
          tracker.read(packet, pts: pts)
          scanner.read(packet, pts: pts)
          _ = Message.messages(inNAL: packet, codec: codec)
          if Int.random(in: 0..<4, using: &random) == 0 {
            _ = tracker.signal(at: noisePTS(&random))
          }
          #expect(tracker.heldPictures <= PictureOrder.capacity)
        }
        _ = scanner.finish()
      }
    }
  }

  /// Returns a packet with few different byte values, so that start codes, short lengths and
  /// message types occur, or a valid access unit with a few bytes changed.
  private func noisePacket(
    _ codec: Codec, _ wrapping: Wrapping, _ random: inout SeededGenerator
  ) -> [UInt8] {
    let likely: [UInt8] = [0, 0, 0, 1, 3, 6, 0x2F, 0x65, 0x41, 0x4E, 0x26, 0x80, 0xFF, 4, 8, 7]
    guard Bool.random(using: &random) else {
      return (0..<Int.random(in: 0...200, using: &random)).map { _ in
        Int.random(in: 0..<4, using: &random) == 0
          ? UInt8.random(in: 0...255, using: &random)
          : likely.randomElement(using: &random) ?? 0
      }
    }
    let kinds: [PictureKind] = [.idr, .cleanRandomAccess, .brokenLink, .inter, .skippedLeading]
    let unit = SyntheticUnit(
      kind: kinds.randomElement(using: &random) ?? .inter, pts: nil,
      message: Bool.random(using: &random) ? .cancel : Message(standing: .left),
      endsSequence: Int.random(in: 0..<8, using: &random) == 0)
    var packet = unit.bytes(codec, wrapping)
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      packet[Int.random(in: packet.indices, using: &random)] = .random(in: 0...255, using: &random)
    }
    return Array(packet.prefix(Int.random(in: packet.count / 2...packet.count, using: &random)))
  }

  private func noisePTS(_ random: inout SeededGenerator) -> Int64? {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: nil
    case 1: .min
    case 2: .max
    case 3: .random(in: .min ... .max, using: &random)
    default: .random(in: -20...20, using: &random)
    }
  }

  @Test("Memory is bounded for any timestamps, and the current signal is kept", arguments: 0..<5)
  func bounded(shape: Int) {
    var tracker = DisplayOrientationTracker(codec: .h264, configuration: [])
    let first = SyntheticUnit(kind: .idr, pts: 0, message: Message(standing: .left))
    let later = SyntheticUnit(kind: .inter, pts: 0, message: nil).bytes(.h264, .startCodes)
    tracker.read(first.bytes(.h264, .startCodes), pts: shape == 0 ? nil : 0)
    for index in 1...Int64(5000) {
      let pts: Int64? =
        switch shape {
        case 0: nil
        case 1: index
        case 2: 0
        case 3: index.isMultiple(of: 2) ? index : nil
        default: index % 7
        }
      tracker.read(later, pts: pts)
      #expect(tracker.heldPictures <= PictureOrder.capacity)
    }
    #expect(letter(tracker.signal(at: 5000)) == "L")
    #expect(letter(tracker.signal(at: nil)) == "L")
  }

  @Test("Timestamps that only decrease, with each picture queried at once")
  func falling() {
    var tracker = DisplayOrientationTracker(codec: .h264, configuration: [])
    var scanner = DisplayOrientationScanner(codec: .h264, configuration: [])
    for index in 0..<Int64(2000) {
      let unit = SyntheticUnit(
        kind: index == 0 ? .idr : .inter, pts: nil,
        message: index == 0 ? Message(standing: .left) : nil)
      let packet = unit.bytes(.h264, .startCodes)
      tracker.read(packet, pts: -index)
      scanner.read(packet, pts: -index)
      #expect(letter(tracker.signal(at: -index)) == "L")
      #expect(tracker.heldPictures <= 2)
    }
    #expect(scanner.finish().pictureCount == 2000)
  }

  @Test("A raw buffer, empty and not empty")
  func rawBuffer() {
    var tracker = DisplayOrientationTracker(codec: .hevc, configuration: [])
    tracker.read(UnsafeRawBufferPointer(start: nil, count: 0), pts: 0)
    let unit = SyntheticUnit(kind: .idr, pts: 0, message: Message(standing: .left))
    unit.bytes(.hevc, .startCodes).withUnsafeBytes { tracker.read($0, pts: 3) }
    #expect(letter(tracker.signal(at: 3)) == "L")
  }
}
