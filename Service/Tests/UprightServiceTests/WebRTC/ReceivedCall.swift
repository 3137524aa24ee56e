import Foundation
import UprightOrientation
import Testing
import UprightServiceTestSupport

@testable import UprightService

/// An output of a session to which `webrtc_stage.py` has published, decoded: what each frame shows, and when the
/// publisher's beeps are.
struct ReceivedCall: Sendable {
  struct Frame: Sendable {
    /// The number that the publisher gave it; `nil` if it can't be read.
    let number: Int?
    /// Whether its content is wider than high. The canvas may be another one, which it fits.
    let isWide: Bool
    /// In seconds.
    let time: Double
    /// Whether red is above green.
    let isUpright: Bool
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
    // In the canvas of its shape, and in one of 320x240 that it fits.
    let codes = try [(192, 24, 20), (144, 18, 15)].map { width, height, below in
      try bytes(
        "crop=\(width):\(height):(iw-\(width))/2:ih/2+\(below),scale=12:1:flags=area,format=gray",
        12)
    }
    try #require(halves.count == sizes.count && codes.allSatisfy { $0.count == sizes.count })
    frames = sizes.indices.map { index in
      let half = halves[index]
      let numbers = codes.map { Self.number($0[index]) }
      return Frame(
        number: numbers[0] ?? numbers[1],
        isWide: (sizes[index].width > sizes[index].height) == (numbers[0] != nil),
        time: sizes[index].time ?? -1,
        isUpright: half[0] > 2 * half[1] + 20 && half[4] > 2 * half[3] + 20)
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

  /// Returns how long after its flash each beep begins, in seconds. Flashes without a beep or frame are left out.
  ///
  /// - Parameter flashes: The numbers of the frames in which flashes begin.
  func distances(_ flashes: [Int]) -> [Double] {
    flashes.compactMap { number in
      guard let flash = frames.first(where: { $0.number == number })?.time else { return nil }
      return beeps.map { $0 - flash }.min { abs($0) < abs($1) }.flatMap {
        abs($0) < 0.4 ? $0 : nil
      }
    }
  }

  /// Expects every frame to be upright, in the shape of its rotation at the publisher, and in the publisher's order.
  ///
  /// - Parameters:
  ///   - rotations: The rotation of each frame of the publisher.
  ///   - missing: The number of frames that may be missing.
  ///   - damaged: The number of frames whose number may be wrong or unreadable, because what they refer to was lost.
  func expectUpright(_ rotations: [Int], missing: Int, damaged: Int = 0) {
    let turned = frames.filter { !$0.isUpright }
    let unreadable = turned.count { $0.number == nil }
    #expect(
      turned.count == unreadable && unreadable <= damaged, "of \(frames.count): \(turned.prefix(5))"
    )
    let numbered = frames.filter { $0.number.map(rotations.indices.contains) ?? false }
    #expect(numbered.count >= frames.count - damaged)
    for frame in numbered {
      let (number, rotation) = (frame.number ?? 0, rotations[frame.number ?? 0])
      #expect(frame.isWide == (rotation % 180 == 0), "frame \(number), rotated by \(rotation)")
    }
    let numbers = numbered.compactMap(\.number)
    #expect(zip(numbers, numbers.dropFirst()).count { $0 > $1 } <= damaged)
    let received = Set(numbers).count
    #expect(received >= rotations.count - missing, "\(received) of \(rotations.count)")
  }
}
