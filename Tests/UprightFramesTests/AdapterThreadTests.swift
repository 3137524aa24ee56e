import Foundation
import UprightKernels
import Testing

@testable import UprightFrames

@Suite("Adapters on several threads")
struct AdapterThreadTests {
  /// Draws frames that are turned half-way, and returns the sizes. Its own thread's alone.
  private static func sizes(_ adapter: FrameAdapter) throws -> [PixelSize] {
    let source = FrameFormat(.i420(), PixelSize(96, 64))
    var bytes = [UInt8](repeating: 128, count: 96 * 64 * 3 / 2)
    return try (0..<40).map { frame in
      let layout = try adapter.layout(of: source, at: MediaTime(Int64(frame), Rational(1, 30)))
      let size = layout.target.size
      var output = [UInt8](repeating: 0, count: size.width * size.height * 3 / 2)
      try bytes.withUnsafeMutableBytes { from in
        try output.withUnsafeMutableBytes { to in
          let planes = try #require(Self.planes(from, source.size))
          try adapter.draw(
            PlaneSet(planes), layout, into: try #require(Self.planes(to, size)))
        }
      }
      return size
    }
  }

  private static func planes(
    _ memory: UnsafeMutableRawBufferPointer, _ size: PixelSize
  ) -> MutablePlaneSet? {
    guard let luma = memory.baseAddress else { return nil }
    let (width, height) = (size.width, size.height)
    let chroma = width / 2 * height / 2
    return MutablePlaneSet(
      .i420(), size: size, (luma, width), (luma + width * height, width / 2),
      (luma + width * height + chroma, width / 2))
  }

  @Test("Two adapters work on two threads, and a third thread posts their events")
  func twoThreads() async throws {
    var options = AdapterOptions()
    options.frames = .sensor(Camera())
    options.size = PixelSize(48, 80)
    let expected =
      Array(repeating: PixelSize(48, 80), count: 20)
      + Array(repeating: PixelSize(80, 48), count: 20)
    try await withThrowingTaskGroup(of: [PixelSize].self) { group in
      for _ in 0..<2 {
        let adapter = try FrameAdapter(options)
        let inbox = adapter.inbox
        try inbox.post([.at(20.0 / 30, .device(.landscapeLeft))])
        group.addTask {
          for _ in 0..<50 { try inbox.post([.at(20.0 / 30, .device(.landscapeLeft))]) }
          return expected
        }
        nonisolated(unsafe) let own = adapter
        group.addTask { try Self.sizes(own) }
      }
      for try await sizes in group { #expect(sizes == expected) }
    }
  }
}
