import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Real clips with a message at their only IDR")
struct ClipTests {
  static let elementary = "clips/sei-derived/foreman_sei_180_es.h264"
  static let files: [(path: String, letter: String)] = [
    ("clips/sei-derived/foreman_sei_ccw90.mp4", "L"),
    ("clips/sei-derived/foreman_sei_hflip.mp4", "M"),
  ]

  /// Groups NAL units into access units: a new one starts, after a slice, at the first unit of
  /// types 6...9 or the first slice of a picture (ISO/IEC 14496-10, 7.4.1.2.3).
  private func accessUnits(_ bytes: [UInt8], _ framing: NALFraming) -> [[[UInt8]]] {
    var result: [[[UInt8]]] = [[]]
    var hasSlice = false
    var walk = NALUnits(framing)
    while let range = walk.next(in: bytes.span) {
      let unit = Array(bytes[range])
      let type = unit[0] & 0x1F
      let isSlice = (1...5).contains(type)
      if hasSlice, (6...9).contains(type) || (isSlice && unit.count > 1 && unit[1] >= 0x80) {
        result.append([])
        hasSlice = false
      }
      hasSlice = hasSlice || isSlice
      result[result.count - 1].append(unit)
    }
    return result
  }

  private func seen(_ units: [[[UInt8]]], _ wrapping: Wrapping, delay: Int) -> String {
    var tracker = DisplayOrientationTracker(
      codec: .h264, configuration: wrapping.configuration(.h264))
    var seen = ""
    for (index, unit) in units.enumerated() {
      tracker.read(wrapping.packet(unit), pts: nil)
      if index >= delay { seen += letter(tracker.signal(at: nil)) }
    }
    while seen.count < units.count { seen += letter(tracker.signal(at: nil)) }
    return seen
  }

  @Test("An elementary stream rotated by 180 degrees", .clips("sei-derived"))
  func elementaryStream() throws {
    let bytes = Array(try Data(contentsOf: SharedFiles.url(Self.elementary)))
    let units = accessUnits(bytes, .startCodes)
    #expect(units.count == 60)
    let all = String(repeating: "D", count: 60)
    for wrapping in [Wrapping.startCodes, .shortStartCodes, .length4] {
      for delay in [0, 3, 16] { #expect(seen(units, wrapping, delay: delay) == all) }
    }
    // Unit by unit, like a stream that is cut anywhere between units.
    #expect(units.flatMap { $0 }.count > 60)
    var scanner = DisplayOrientationScanner(codec: .h264, configuration: [])
    for unit in units.joined() { scanner.read(Wrapping.startCodes.packet([unit]), pts: nil) }
    let timeline = scanner.finish()
    #expect(timeline.pictureCount == 60)
    #expect(timeline.runs.count == 1)
    #expect(timeline.runs.first?.signal?.orientation == .down)
  }

  @Test("Files with one track", .clips("sei-derived"))
  func singleTrackFiles() throws {
    for file in Self.files {
      let bytes = Array(try Data(contentsOf: SharedFiles.url(file.path)))
      // There is one track, so the samples in mdat are contiguous, and each unit follows its
      // length.
      let avcC = try #require(box("avcC", in: bytes))
      let mdat = try #require(box("mdat", in: bytes))
      let framing = NALFraming(configuration: bytes[avcC], codec: .h264)
      #expect(framing == .lengths(4))
      let units = accessUnits(Array(bytes[mdat]), framing)
      #expect(units.count == 60)
      let all = String(repeating: file.letter, count: 60)
      #expect(seen(units, .length4, delay: 2) == all)
      #expect(seen(units, .startCodes, delay: 2) == all)
    }
  }

  /// Returns the content of the first box of that type, located by its name.
  private func box(_ type: String, in bytes: [UInt8]) -> Range<Int>? {
    let name = Array(type.utf8)
    for index in 4..<bytes.count - 4 where Array(bytes[index..<index + 4]) == name {
      let size = bytes[index - 4..<index].reduce(0) { $0 << 8 | Int($1) }
      let end = index - 4 + size
      if size >= 8, end <= bytes.count { return index + 4..<end }
    }
    return nil
  }
}
