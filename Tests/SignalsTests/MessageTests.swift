import UprightOrientation
import UprightSignals
import Testing
import UprightTestSupport

@Suite("Display orientation messages: syntax")
struct MessageTests {
  static let periods: [UInt16] = [0, 1, 2, 3, 4, 255, 16383, 16384]

  @Test("All eight orientations at every period, written and read", arguments: Codec.allCases)
  func roundTrip(codec: Codec) {
    for orientation in ImageOrientation.allCases {
      for period in Self.periods {
        let message = Message.set(SEIDisplayOrientation(orientation), repetitionPeriod: period)
        let read = Message.messages(inNAL: message.nal(for: codec), codec: codec)
        let expected = codec == .h264 ? period : min(period, 1)
        #expect(
          read == [
            .set(SEIDisplayOrientation(orientation), repetitionPeriod: expected)
          ])
      }
    }
    #expect(Message.messages(inNAL: Message.cancel.nal(for: codec), codec: codec) == [.cancel])
  }

  @Test("Every angle, both flips", arguments: Codec.allCases)
  func angles(codec: Codec) {
    for rotation in stride(from: UInt16(0), through: .max - 16, by: 257) {
      for flips in 0..<4 {
        let values = SEIDisplayOrientation(
          horizontalFlip: flips & 1 != 0, verticalFlip: flips & 2 != 0,
          anticlockwiseRotation: rotation)
        let message = Message.set(values, repetitionPeriod: 1)
        #expect(Message(payload: message.payload(for: codec), codec: codec) == message)
        let signal = DisplayOrientationSignal(values)
        #expect(signal.isExact == (rotation.isMultiple(of: 16384)))
        #expect(signal.orientation == values.turn.nearest)
      }
    }
  }

  @Test("The bytes equal those of other encoders")
  func bytes() {
    func h264(_ orientation: ImageOrientation) -> [UInt8] {
      Message(standing: orientation).nal(for: .h264)
    }
    #expect(h264(.left) == [0x06, 0x2F, 0x03, 0x08, 0x00, 0x09, 0x80])
    #expect(h264(.down) == [0x06, 0x2F, 0x03, 0x10, 0x00, 0x09, 0x80])
    #expect(h264(.right) == [0x06, 0x2F, 0x03, 0x18, 0x00, 0x09, 0x80])
    #expect(h264(.upMirrored) == [0x06, 0x2F, 0x03, 0x40, 0x00, 0x09, 0x80])
    #expect(Message.cancel.nal(for: .h264) == [0x06, 0x2F, 0x01, 0xC0, 0x80])
    #expect(
      Message(standing: .left).nal(for: .hevc) == [0x4E, 0x01, 0x2F, 0x03, 0x08, 0x00, 0x18, 0x80])
  }

  @Test("Emulation prevention is written and removed again")
  func emulationPrevention() {
    let message = Message.set(SEIDisplayOrientation(.up), repetitionPeriod: 16384)
    let nal = message.nal(for: .h264)
    #expect(nal == [6, 0x2F, 7, 0, 0, 3, 0, 0, 0x40, 0x01, 0x40, 0x80])
    #expect(Message.messages(inNAL: nal, codec: .h264) == [message])
    // An 03 after two zeros is removed even at the end of the unit (as with cabac_zero_words).
    #expect(
      Message.messages(inNAL: [0x06, 0x2F, 0x03, 0x00, 0x00, 0x03, 0x09], codec: .h264)
        == [.set(SEIDisplayOrientation(.up), repetitionPeriod: 1)])
  }

  @Test("Several messages, long types and long sizes", arguments: Codec.allCases)
  func several(codec: Codec) {
    let header = Array(Message.cancel.nal(for: codec).prefix(codec == .h264 ? 1 : 2))
    let wanted = [Message(standing: .left), .cancel, Message(standing: .down)]
    func raw(_ message: Message) -> [UInt8] {
      let payload = message.payload(for: codec)
      return [47, UInt8(payload.count)] + payload
    }
    // Type 302 is 255 + 47 and must not be read as 47; size 600 is 255 + 255 + 90.
    let odd: [UInt8] = [0xFF, 47, 2, 0x55, 0x55]
    let long: [UInt8] = [5, 0xFF, 0xFF, 90] + [UInt8](repeating: 0x2F, count: 600)
    let nal =
      header + odd + raw(wanted[0]) + long + raw(wanted[1]) + [4, 0] + raw(wanted[2]) + [0x80]
    #expect(Message.messages(inNAL: nal, codec: codec) == wanted)
    // A message can be longer than necessary; everything after the flag is ignored.
    let padded =
      header + [47, 0xFF, 5] + wanted[0].payload(for: codec)
      + [UInt8](repeating: 0x2F, count: 257) + [0x80]
    #expect(Message.messages(inNAL: padded, codec: codec) == [wanted[0]])
  }

  @Test("A truncated or out-of-range payload is not a message")
  func cutShort() {
    // Period 3 ends with the third byte: the extension flag is missing.
    #expect(Message(payload: [0x08, 0x00, 0x04], codec: .h264) == nil)
    #expect(Message(payload: [0x08, 0x00, 0x04, 0x40], codec: .h264) != nil)
    // Period 16385 (code 16386), and a code longer than any.
    #expect(Message(payload: [0x08, 0, 0, 0, 0x40, 0x02, 0x40], codec: .h264) == nil)
    #expect(Message(payload: [0x08, 0, 0, 0, 0x40, 0x01, 0x40], codec: .h264) != nil)
    #expect(Message(payload: [UInt8](repeating: 0, count: 64), codec: .h264) == nil)
    #expect(Message(payload: [UInt8](repeating: 0, count: 6) + [1, 0xFF], codec: .h264) == nil)
    #expect(Message(payload: [], codec: .hevc) == nil)
    #expect(Message(payload: [0x08, 0x00], codec: .hevc) == nil)
    // Extension flag 1: the message is valid.
    #expect(
      Message(payload: [0x08, 0x00, 0x0B, 0xFF], codec: .h264)
        == .set(SEIDisplayOrientation(.left), repetitionPeriod: 1))
    // A period that can't be represented is written as the largest.
    let message = Message.set(SEIDisplayOrientation(.up), repetitionPeriod: .max)
    #expect(
      Message(payload: message.payload(for: .h264), codec: .h264)
        == .set(SEIDisplayOrientation(.up), repetitionPeriod: 16384))
  }

  @Test("Only SEI of the base layer is read")
  func others() {
    let nal = Message(standing: .left).nal(for: .hevc)
    let body = Array(nal.dropFirst(2))
    let wrong: [[UInt8]] = [
      [40 << 1, 1],  // suffix SEI
      [39 << 1, 1 << 3 | 1], [39 << 1 | 1, 1],  // other layers
      [39 << 1, 0], [0x80 | 39 << 1, 1],  // forbidden
    ]
    for header in wrong {
      #expect(Message.messages(inNAL: header + body, codec: .hevc).isEmpty)
    }
    #expect(Message.messages(inNAL: [39 << 1, 3] + body, codec: .hevc).count == 1)
    #expect(Message.messages(inNAL: nal, codec: .h264).isEmpty)
    #expect(Message.messages(inNAL: [0x86] + body, codec: .h264).isEmpty)
  }

  @Test(
    "Vectors: sei_display_orientation")
  func vectors() throws {
    var checked = 0
    for row in try Fixtures.vectors("sei_display_orientation")["cases"].array {
      for row in [row] + row["cases"].array {
        if let u16 = row["u16"].int, let angle = row["angle"].int {
          let orientation = try #require(
            ImageOrientation(flippedHorizontally: false, clockwiseDegrees: -angle))
          #expect(SEIDisplayOrientation(orientation).anticlockwiseRotation == UInt16(u16))
          checked += 1
        }
      }
      guard let hex = row["nal_hex"].string else { continue }
      let nal = bytes(hex)
      let messages = Message.messages(inNAL: nal, codec: .h264)
      guard case .set(let values, let period) = try #require(messages.first) else {
        Issue.record("\(row["id"]) is a cancel")
        continue
      }
      #expect(messages.count == 1)
      #expect(messages.first?.nal(for: .h264) == nal)
      #expect(period == 1)
      if let u16 = row["anticlockwise_u16"].int {
        #expect(Int(values.anticlockwiseRotation) == u16)
        #expect(values.horizontalFlip == row["hor_flip"].bool)
        #expect(values.verticalFlip == row["ver_flip"].bool)
        #expect(Int(period) == row["repetition_period"].int)
        #expect(Int(nal[2]) == row["payload_size"].int)
      }
      let matrix = row["ffmpeg_frame_matrix_abcd"].ints
      if matrix.count == 4 {
        #expect(
          DisplayMatrix(try #require(values.orientation)).values.prefix(5).map(Int.init)
            == [matrix[0], matrix[1], 0, matrix[2], matrix[3]])
      }
      checked += 1
    }
    #expect(checked >= 10)
  }

  private func bytes(_ hex: String) -> [UInt8] {
    var digits = Substring(hex)
    var result: [UInt8] = []
    while digits.count >= 2 {
      result.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
    return result
  }
}
