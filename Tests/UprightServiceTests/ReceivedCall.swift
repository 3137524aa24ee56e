import Foundation
import Orientation
import Testing
import UprightTestSupport

@testable import UprightService

/// An output of a session to which `webrtc_stage.py` has published, decoded: what each frame shows, and when the
/// publisher's flashes and beeps are.
struct ReceivedCall: Sendable {
  struct Frame: Sendable {
    /// The number that the publisher gave it; `nil` if it can't be read.
    let number: Int?
    let size: PixelSize
    /// In seconds.
    let time: Double
    /// Whether red is above green.
    let isUpright: Bool
    let hasFlash: Bool
  }

  let frames: [Frame]
  /// When beeps begin, in seconds.
  let beeps: [Double]

  private static let rate = 48_000

  init(_ path: String, _ scratch: Scratch) throws {
    let sizes = try FFmpegTool.frames(path)
    /// Returns the bytes of each frame after a filter.
    func bytes(_ filter: String, _ count: Int) throws -> [ArraySlice<UInt8>] {
      let file = scratch.path("call.raw")
      try FFmpegTool.run(
        ["-i", path, "-fps_mode", "passthrough", "-vf", filter, "-f", "rawvideo", file])
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
      return stride(from: 0, to: bytes.count, by: count).map {
        bytes[$0..<min($0 + count, bytes.count)]
      }
    }
    let halves = try bytes("scale=1:2:flags=area,format=rgb24", 6).map(Array.init)
    let codes = try bytes(
      "crop=192:24:(iw-192)/2:ih/2+20,scale=12:1:flags=area,format=gray", 12)
    let flashes = try bytes("crop=80:50:(iw-80)/2:ih/2-60,scale=1:1:flags=area,format=gray", 1)
    try #require(halves.count == sizes.count && codes.count == sizes.count)
    frames = sizes.indices.map { index in
      let half = halves[index]
      return Frame(
        number: Self.number(codes[index]),
        size: PixelSize(sizes[index].width, sizes[index].height), time: sizes[index].time ?? -1,
        isUpright: half[0] > 2 * half[1] + 20 && half[4] > 2 * half[3] + 20,
        hasFlash: flashes[index].first ?? 0 > 150)
    }
    beeps = try Self.beeps(path, scratch)
  }

  /// Reads a white cell, ten bits and a black cell.
  private static func number(_ cells: ArraySlice<UInt8>) -> Int? {
    let bits = cells.map { $0 > 128 }
    guard bits.count == 12, bits[0], !bits[11] else { return nil }
    return bits[1..<11].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
  }

  private static func beeps(_ path: String, _ scratch: Scratch) throws -> [Double] {
    let file = scratch.path("call.pcm")
    // Sample 0 is at time 0.
    try FFmpegTool.run(
      ["-copyts", "-i", path, "-vn", "-af", "aresample=\(rate):async=1:first_pts=0", "-ac", "1"]
        + ["-f", "s16le", file])
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    var beeps: [Double] = []
    var lastLoud = -rate
    for sample in 0..<data.count / 2 {
      let value = Int16(bitPattern: UInt16(data[2 * sample]) | UInt16(data[2 * sample + 1]) << 8)
      guard abs(Int(value)) > 3000 else { continue }
      if sample - lastLoud > rate / 3 { beeps.append(Double(sample) / Double(rate)) }
      lastLoud = sample
    }
    return beeps
  }

  /// When flashes begin, in seconds.
  var flashes: [Double] {
    frames.indices.dropFirst().filter { frames[$0].hasFlash && !frames[$0 - 1].hasFlash }
      .map { frames[$0].time }
  }

  /// How long after its flash each beep begins, in seconds. Those without a partner are left out.
  var distances: [Double] {
    flashes.compactMap { flash in
      beeps.map { $0 - flash }.min { abs($0) < abs($1) }.flatMap { abs($0) < 0.4 ? $0 : nil }
    }
  }

  /// Expects every frame to be upright, in the shape of its rotation at the publisher, and in the publisher's order.
  ///
  /// - Parameters:
  ///   - rotations: The rotation of each frame of the publisher.
  ///   - missing: The number of frames that may be missing.
  func expectUpright(_ rotations: [Int], missing: Int) {
    let turned = frames.filter { !$0.isUpright }
    #expect(turned.isEmpty, "of \(frames.count): \(turned.prefix(5))")
    let numbered = frames.compactMap { frame in frame.number.map { ($0, frame) } }
    let known = numbered.filter { rotations.indices.contains($0.0) }
    #expect(known.count == numbered.count)
    for (number, frame) in known {
      let isWide = rotations[number] % 180 == 0
      #expect(
        (frame.size.width > frame.size.height) == isWide,
        "frame \(number), rotated by \(rotations[number]): \(frame.size)")
    }
    #expect(zip(known, known.dropFirst()).allSatisfy { $0.0 <= $1.0 })
    let received = Set(known.map(\.0)).count
    #expect(received >= rotations.count - missing, "\(received) of \(rotations.count)")
  }
}
