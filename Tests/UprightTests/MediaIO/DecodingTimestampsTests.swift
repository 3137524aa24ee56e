import Testing

@testable import UprightMediaIO

@Suite struct DecodingTimestampsTests {
  @Test("Increasing times are unchanged")
  func rising() throws {
    var times = DecodingTimestamps()
    for (pts, dts) in [(0, -2), (3, -1), (1, 0), (2, 1)] as [(Int64, Int64)] {
      var made = try packet(pts: pts, dts: dts)
      times.fit(&made)
      let (newPTS, newDTS) = (made.pts, made.dts)
      #expect(newPTS == pts && newDTS == dts)
    }
  }

  @Test("The DTS of a new encoder are raised above the old one's last, but not above the PTS")
  func rebased() throws {
    var times = DecodingTimestamps()
    // The old encoder ended at 97. The new one reorders by two and starts at 94.
    let given: [(Int64, Int64)] = [
      (96, 96), (97, 97), (100, 94), (106, 95), (103, 100), (102, 102),
    ]
    var out: [(Int64, Int64)] = []
    for (pts, dts) in given {
      var made = try packet(pts: pts, dts: dts)
      times.fit(&made)
      let (newPTS, newDTS) = (made.pts ?? -1, made.dts ?? -1)
      out.append((newPTS, newDTS))
    }
    #expect(out.map(\.0) == given.map(\.0), "no PTS may change")
    #expect(out.map(\.1) == [96, 97, 98, 99, 100, 102])
  }

  @Test("Packets without a DTS are ordered by their PTS")
  func missing() throws {
    var times = DecodingTimestamps()
    var first = try packet(pts: 5)
    first.dts = nil
    times.fit(&first)
    var second = try packet(pts: 6)
    second.dts = nil
    times.fit(&second)
    let (a, b) = (first.dts, second.dts)
    #expect(a == 5 && b == 6)
  }
}
