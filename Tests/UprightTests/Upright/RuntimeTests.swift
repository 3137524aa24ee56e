import Foundation
import Synchronization
import Testing
import Upright
import UprightFiles
import UprightTestSupport

/// The settings of the process that a host may ask for.
@Suite(.serialized) struct RuntimeTests {
  @Test("The levels are those of FFmpeg, the most important first")
  func levels() {
    let levels: [UprightRuntime.LogLevel] = [
      .panic, .fatal, .error, .warning, .info, .verbose, .debug, .trace,
    ]
    #expect(levels == UprightRuntime.LogLevel.allCases && levels == levels.sorted())
    #expect(levels.map(\.rawValue) == [0, 8, 16, 24, 32, 40, 48, 56])
  }

  @Test("Large blocks are mapped, also after larger ones were freed", .ownMemory)
  func largeBlocks() throws {
    UprightRuntime.keepLargeBlocksApart()
    // Without the setting, glibc takes blocks up to this size from its heaps from now on.
    free(malloc(30 << 20))
    let block = try #require(malloc(20 << 20))
    defer { free(block) }
    // The bit IS_MMAPPED of glibc's chunk, in the word before the block.
    #expect((block - 8).load(as: UInt.self) & 2 != 0)
  }

  @Test("Unused pages are returned to the system", .ownMemory)
  func freeMemory() throws {
    func residentPages() throws -> Int {
      let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
        separator: " ")
      return try #require(Int(fields[1]))
    }
    let size = 100 << 10
    let blocks = (0..<640).compactMap { _ in malloc(size) }
    for block in blocks { memset(block, 1, size) }
    // The last block keeps glibc from giving back what is below it.
    defer { free(blocks.last) }
    for block in blocks.dropLast() { free(block) }
    let before = try residentPages()
    UprightRuntime.returnFreeMemory()
    #expect(try residentPages() < before - (32 << 20) / 4096)
  }

  @Test("A line of the log takes no longer than the first one", .ownMemory)
  func log() throws {
    let scratch = try Scratch()
    let path = scratch.path("in.mp4")
    // A movie without an index.
    try Data([0, 0, 0, 16] + "ftypisom".utf8 + [0, 0, 2, 0]).write(to: URL(fileURLWithPath: path))
    let depths = Mutex<[Int]>([])
    UprightRuntime.installLog(upTo: .error) { _, _ in
      let depth = Thread.callStackReturnAddresses.count
      depths.withLock { $0.append(depth) }
    }
    for _ in 0..<100 { _ = try? Probe(input: path) }
    let found = depths.withLock { $0 }
    #expect(found.count >= 100)
    #expect(found.prefix(10).max() == found.suffix(10).max(), "\(found)")
  }
}
