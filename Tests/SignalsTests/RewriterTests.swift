import UprightOrientation
import UprightSignals
import Testing
import UprightTestSupport

@Suite("One orientation for a whole stream")
struct RewriterTests {
  /// Returns the units' packets after the rewriter.
  private func rewritten(
    _ units: [SyntheticUnit], _ codec: Codec, _ wrapping: Wrapping, _ orientation: ImageOrientation?
  ) -> [[UInt8]] {
    var rewriter = DisplayOrientationRewriter(
      codec: codec, configuration: wrapping.configuration(codec), orientation: orientation)
    return units.map { unit in
      let bytes = unit.bytes(codec, wrapping)
      let isKey = [.idr, .cleanRandomAccess, .brokenLink].contains(unit.kind)
      return rewriter.rewrite(bytes.span, isKey: isKey) ?? bytes
    }
  }

  private func signals(
    _ packets: [[UInt8]], _ units: [SyntheticUnit], _ codec: Codec, _ wrapping: Wrapping
  ) -> [ImageOrientation?] {
    var scanner = DisplayOrientationScanner(
      codec: codec, configuration: wrapping.configuration(codec))
    for (packet, unit) in zip(packets, units) { scanner.read(packet, pts: unit.pts) }
    let timeline = scanner.finish()
    return timeline.runs.map { $0.signal?.orientation }
  }

  @Test("Any stream has one orientation after rewriting", arguments: PersistenceTests.cases)
  func one(_ example: PersistenceCase) {
    let units = stream(example.decoding)
    for codec in example.codecs {
      for wrapping in Wrapping.allCases {
        for orientation in [ImageOrientation.right, .leftMirrored, .up] {
          let packets = rewritten(units, codec, wrapping, orientation)
          #expect(
            signals(packets, units, codec, wrapping) == [orientation],
            "\(codec) \(wrapping) \(orientation)")
        }
        let silent = rewritten(units, codec, wrapping, nil)
        #expect(signals(silent, units, codec, wrapping) == [nil], "\(codec) \(wrapping)")
        // Only the messages are removed.
        for (packet, unit) in zip(silent, units) {
          var bare = unit
          bare.message = nil
          #expect(packet == bare.bytes(codec, wrapping), "\(codec) \(wrapping)")
        }
      }
    }
  }

  @Test(
    "The message is between the parameter sets and the slice", arguments: Codec.allCases)
  func place(_ codec: Codec) {
    let sets: [[UInt8]] =
      codec == .h264 ? [[0x67, 1, 2], [0x68, 3]] : [[0x40, 1, 2], [0x42, 1, 3]]
    let delimiter: [UInt8] = codec == .h264 ? [9, 0xF0] : [35 << 1, 1, 0x50]
    let slices = [PictureKind.idr.slice(codec), PictureKind.idr.slice(codec, isFirst: false)]
    let message = DisplayOrientationMessage(standing: .left).nal(for: codec)
    for wrapping in Wrapping.allCases {
      var rewriter = DisplayOrientationRewriter(
        codec: codec, configuration: wrapping.configuration(codec), orientation: .left)
      let packet = wrapping.packet([delimiter] + sets + slices)
      let wanted = wrapping.packet([delimiter] + sets + [message] + slices)
      let result = rewriter.rewrite(packet.span, isKey: true)
      if wrapping == .shortStartCodes {
        // The new unit has a long start code.
        let long = [UInt8](repeating: 0, count: 1)
        let before = wrapping.packet([delimiter] + sets)
        #expect(result == before + long + wrapping.packet([message] + slices))
      } else {
        #expect(result == wanted, "\(wrapping)")
      }
      #expect(rewriter.inserted == 1 && rewriter.removed == 0)
    }
  }

  @Test("H.264: the prefix NAL unit stays with its slice")
  func prefix() {
    let prefix: [UInt8] = [0x6E, 0x40, 0x80, 0x20]
    let slice = PictureKind.idr.slice(.h264)
    let message = DisplayOrientationMessage(standing: .down).nal(for: .h264)
    var rewriter = DisplayOrientationRewriter(
      codec: .h264, configuration: [UInt8](), orientation: .down)
    let wrapping = Wrapping.startCodes
    #expect(
      rewriter.rewrite(wrapping.packet([prefix, slice]).span, isKey: true)
        == wrapping.packet([message, prefix, slice]))
  }

  @Test("Other messages of the same SEI are unchanged", arguments: Codec.allCases)
  func neighbours(_ codec: Codec) {
    // Consecutive zeros, so that the emulation prevention bytes move when the message is removed.
    let user: [UInt8] = [5, 4, 0, 0, 0, 1]
    let recovery: [UInt8] = [6, 1, 0xC4]
    let payload = DisplayOrientationMessage(standing: .right).payload(for: codec)
    let ours: [UInt8] = [47, UInt8(payload.count)] + payload
    let header: [UInt8] = codec == .h264 ? [6] : [39 << 1, 1]
    func unit(_ raw: [UInt8]) -> [UInt8] {
      var escaped: [UInt8] = []
      var zeros = 0
      for byte in raw {
        if zeros == 2 && byte <= 3 {
          escaped.append(3)
          zeros = 0
        }
        escaped.append(byte)
        zeros = byte == 0 ? zeros + 1 : 0
      }
      return header + escaped
    }
    let slice = PictureKind.inter.slice(codec)
    for wrapping in Wrapping.allCases {
      for (before, after) in [
        ([user, ours, recovery], [user, recovery]), ([ours, user], [user]),
        ([recovery, ours, ours], [recovery]),
      ] {
        var rewriter = DisplayOrientationRewriter(
          codec: codec, configuration: wrapping.configuration(codec), orientation: nil)
        let packet = wrapping.packet([unit(before.flatMap { $0 } + [0x80]), slice])
        let result = rewriter.rewrite(packet.span, isKey: false)
        let wanted = [unit(after.flatMap { $0 } + [0x80]), slice]
        // A rewritten unit has a long start code.
        let expected =
          wrapping == .shortStartCodes
          ? Wrapping.startCodes.packet([wanted[0]]) + wrapping.packet([slice])
          : wrapping.packet(wanted)
        #expect(result == expected, "\(codec) \(wrapping) \(before.count)")
        #expect(rewriter.removed == before.filter { $0 == ours }.count)
      }
    }
  }

  @Test("A packet without a message to remove or insert is unchanged", arguments: Codec.allCases)
  func untouched(_ codec: Codec) {
    var rewriter = DisplayOrientationRewriter(
      codec: codec, configuration: [UInt8](), orientation: .right)
    let first = Wrapping.startCodes.packet([PictureKind.idr.slice(codec)])
    #expect(rewriter.rewrite(first.span, isKey: true) != nil)
    let next = Wrapping.startCodes.packet([PictureKind.inter.slice(codec)])
    #expect(rewriter.rewrite(next.span, isKey: false) == nil)
    #expect(rewriter.rewrite([UInt8]().span, isKey: true) == nil)
  }

  @Test("Random bytes", arguments: Codec.allCases)
  func hostile(_ codec: Codec) {
    var random = SeededGenerator(seed: 47)
    for wrapping in Wrapping.allCases {
      var rewriter = DisplayOrientationRewriter(
        codec: codec, configuration: wrapping.configuration(codec), orientation: .left)
      for _ in 0..<400 {
        let count = Int.random(in: 0..<60, using: &random)
        let bytes = (0..<count).map { _ in
          Bool.random(using: &random)
            ? UInt8.random(in: 0...3, using: &random)
            : UInt8.random(in: 0...255, using: &random)
        }
        let result = rewriter.rewrite(bytes.span, isKey: Bool.random(using: &random))
        #expect((result?.count ?? 0) <= bytes.count + 64)
      }
    }
  }
}
