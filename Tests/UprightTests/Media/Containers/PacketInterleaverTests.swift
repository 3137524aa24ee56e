import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightMedia
@testable import UprightMediaIO

@Suite struct PacketInterleaverTests {
  /// Returns the available packets, as track and milliseconds.
  private func drain(_ interleaver: PacketInterleaver) -> [String] {
    var out: [String] = []
    while let item = interleaver.next() {
      out.append("\(item.track)@\(item.time.rescaled(to: Rational(1, 1000)).ticks)")
    }
    return out
  }

  private func add(
    _ interleaver: PacketInterleaver, _ track: Int, pts: Int64, dts: Int64? = nil, key: Bool = false
  ) throws {
    interleaver.add(
      try packet(pts: pts, dts: dts, key: key), track: track, format: nil, isVideo: track == 0)
  }

  @Test("Packets are output in order of time, and only once the order is certain")
  func order() throws {
    let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: false)
    try add(interleaver, 1, pts: 0)
    try add(interleaver, 1, pts: 20)
    // There is no frame yet, so the audio waits.
    #expect(drain(interleaver) == [])
    try add(interleaver, 0, pts: 10, key: true)
    #expect(drain(interleaver) == ["1@0", "0@10"])
    try add(interleaver, 0, pts: 40)
    #expect(drain(interleaver) == ["1@20"])
    interleaver.end(track: 1)
    #expect(drain(interleaver) == ["0@40"])
  }

  @Test("At equal times, video comes first")
  func ties() throws {
    let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: true)
    try add(interleaver, 1, pts: 0)
    try add(interleaver, 0, pts: 0, key: true)
    interleaver.end(track: 0)
    interleaver.end(track: 1)
    #expect(drain(interleaver) == ["0@0", "1@0"])
  }

  @Test("An IDR is ordered by its PTS only if segments are cut at IDRs")
  func keys() throws {
    for (cutsAtKeys, expected) in [
      (true, ["1@980", "0@1000", "1@1001"]), (false, ["0@900", "1@980", "1@1001"]),
    ] {
      let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: cutsAtKeys)
      try add(interleaver, 0, pts: 1000, dts: 900, key: true)
      try add(interleaver, 1, pts: 980)
      try add(interleaver, 1, pts: 1001)
      interleaver.end(track: 0)
      interleaver.end(track: 1)
      #expect(drain(interleaver) == expected)
    }
  }

  @Test("Packets after an IDR on its track follow it")
  func afterKey() throws {
    let interleaver = PacketInterleaver(awaited: [true], cutsAtKeys: true)
    try add(interleaver, 0, pts: 1000, dts: 900, key: true)
    try add(interleaver, 0, pts: 1100, dts: 933)
    try add(interleaver, 0, pts: 1033, dts: 1010)
    interleaver.end(track: 0)
    #expect(drain(interleaver) == ["0@1000", "0@1000", "0@1010"])
  }

  @Test("Only an awaited track delays others, and at most for the timeout")
  func timeout() throws {
    let subtitles = PacketInterleaver(awaited: [true, false], cutsAtKeys: false)
    try add(subtitles, 0, pts: 0, key: true)
    #expect(drain(subtitles) == ["0@0"])

    let late = PacketInterleaver(
      awaited: [true, true], cutsAtKeys: false, timeout: MediaTime(1, .one))
    for time in stride(from: Int64(0), through: 1500, by: 100) {
      try add(late, 0, pts: time, key: time == 0)
    }
    // Packets more than a second older than the newest are output without waiting for audio.
    #expect(drain(late) == (0...5).map { "0@\($0 * 100)" })
  }

  @Test("No packet is lost, in any order of arrival")
  func whole() throws {
    var random = SeededGenerator()
    let interleaver = PacketInterleaver(
      awaited: [true, true, false], cutsAtKeys: true, timeout: MediaTime(5, .one))
    var came = 0
    var out: [String] = []
    var times: [Int64] = [0, 0, 0]
    for _ in 0..<400 {
      let track = Int.random(in: 0..<3, using: &random)
      times[track] += Int64.random(in: 1...60, using: &random)
      try add(interleaver, track, pts: times[track], key: track == 0 && Bool.random(using: &random))
      came += 1
      out += drain(interleaver)
    }
    for track in 0..<3 { interleaver.end(track: track) }
    out += drain(interleaver)
    #expect(out.count == came, "seed \(random.seed)")
    for track in 0..<3 {
      let own = out.filter { $0.hasPrefix("\(track)@") }.compactMap { Int($0.dropFirst(2)) }
      #expect(own == own.sorted(), "seed \(random.seed)")
    }
  }

  @Test("The earliest decoding time of the first packets")
  func earliest() throws {
    let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: true)
    #expect(interleaver.earliestDecodingTime.seconds == 0)
    try add(interleaver, 0, pts: 0, dts: -66, key: true)
    try add(interleaver, 1, pts: -21)
    #expect(abs(interleaver.earliestDecodingTime.seconds + 0.066) < 1e-9)
  }
}
