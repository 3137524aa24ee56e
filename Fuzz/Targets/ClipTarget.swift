#if DEBUG
import Foundation
import UprightOrientation
import UprightFiles
import UprightMediaIO
import UprightMedia

extension FuzzTarget {
  /// Runs a complete session on a Matroska file with arbitrary timestamps.
  static let clip = FuzzTarget("clip") { bytes in
    var input = FuzzInput(bytes)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("upright-fuzz-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = TranscodeOptions()
    (options.threads, options.overwrites, options.speed) = (1, true, "ultrafast")
    let shape = input.byte()
    options.reencode = shape & 1 == 1 ? .always : .auto
    if shape & 2 == 2 { options.start = input.double() }
    if shape & 4 == 4 { options.end = input.double() }
    options.splits = shape & 8 == 8
    options.segments = shape & 16 == 16 ? .ts : .fmp4
    if shape & 32 == 32 { options.canvas = .landscape }
    let name = input.choice(["mp4", "m3u8", "mkv", "ts", "flv", "mov"])
    let clip = folder.appendingPathComponent("in.mkv")
    try Data(MatroskaClip.bytes(&input)).write(to: clip)
    do {
      let session = try TranscodeSession(
        input: clip.path, output: folder.appendingPathComponent("out.\(name)").path,
        options: options)
      _ = try session.run()
    } catch let error as UprightError where error.code == .fault {
      throw Finding(description: "\(error)")
    }
  }
}

/// A file with a track of H.264 frames, all of them keyframes, and an audio track.
private enum MatroskaClip {
  private static let frame: [UInt8] = [
    0, 0, 0, 10, 0x65, 0x88, 0x84, 0x3A, 0x26, 0x28, 0x0C, 0x9D, 0x75, 0xE0,
  ]
  private static let configuration: [UInt8] = [
    0x01, 0x42, 0xC0, 0x0A, 0xFF, 0xE1, 0x00, 0x15, 0x67, 0x42, 0xC0, 0x0A, 0xDC, 0x96, 0xC0,
    0x44,
    0x00, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00, 0x03, 0x00, 0xC8, 0x3C, 0x48, 0x9E, 0x01, 0x00,
    0x04,
    0x68, 0xCE, 0x0F, 0xC8,
  ]

  static func bytes(_ input: inout FuzzInput) -> [UInt8] {
    let head = element(
      0x1A45_DFA3,
      element(0x4282, Array("matroska".utf8)) + number(0x4287, 4) + number(0x4285, 2))
    let scale = input.flag() ? UInt64(bitPattern: input.ticks()) : 1_000_000
    let duration = input.flag() ? input.double() : 1000
    let info = element(
      0x1549_A966, number(0x2AD7B1, scale) + element(0x4489, big(duration.bitPattern)))
    let perFrame = input.flag() ? UInt64(bitPattern: input.ticks()) : 0
    let video =
      number(0xD7, 1) + number(0x73C5, 1) + number(0x83, 1)
      + element(0x86, Array("V_MPEG4/ISO/AVC".utf8))
      + element(0x63A2, configuration) + (perFrame > 0 ? number(0x23E383, perFrame) : [])
      + element(0xE0, number(0xB0, 32) + number(0xBA, 32))
    let audio =
      number(0xD7, 2) + number(0x73C5, 2) + number(0x83, 2)
      + element(0x86, Array("A_PCM/INT/LIT".utf8))
      + element(
        0xE1, element(0xB5, big(8000.0.bitPattern)) + number(0x9F, 1) + number(0x6264, 16))
    let tracks = element(0x1654_AE6B, element(0xAE, video) + element(0xAE, audio))
    var chapters: [UInt8] = []
    if input.flag() {
      let atom =
        number(0x73C4, 1) + number(0x91, UInt64(bitPattern: input.ticks()))
        + (input.flag() ? number(0x92, UInt64(bitPattern: input.ticks())) : [])
      chapters = element(0x1043_A770, element(0x45B9, element(0xB6, atom)))
    }
    var clusters: [UInt8] = []
    var count = 0
    while !input.isEmpty, count < 24 {
      count += 1
      clusters += cluster(&input)
    }
    return head + element(0x1853_8067, info + tracks + chapters + clusters)
  }

  private static func cluster(_ input: inout FuzzInput) -> [UInt8] {
    var body = number(0xE7, UInt64(bitPattern: input.ticks()))
    repeat {
      let track = UInt64(input.byte() & 1) + 1
      let shift = UInt16(bitPattern: Int16(truncatingIfNeeded: input.ticks()))
      let block =
        [0x80 | UInt8(track), UInt8(shift >> 8), UInt8(shift & 255)]
        + [input.flag() ? 0 : 0x80]
      let content = track == 1 ? frame : [UInt8](repeating: 9, count: 320)
      body +=
        input.flag()
        ? element(0xA3, block + content)
        : element(
          0xA0,
          element(0xA1, block + content) + number(0x9B, UInt64(bitPattern: input.ticks())))
    } while input.flag() && !input.isEmpty && body.count < 8000
    return element(0x1F43_B675, body)
  }

  /// Returns an element with its size in eight bytes.
  private static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] {
    Array(big(UInt64(id)).drop { $0 == 0 }) + [1]
      + big(UInt64(content.count)).dropFirst() + content
  }

  private static func number(_ id: UInt32, _ value: UInt64) -> [UInt8] { element(id, big(value)) }

  private static func big(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
  }
}
#endif
