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

  @Test("Messages go to the log of the session that they are about", .ownMemory)
  func logs() throws {
    let scratch = try Scratch()
    let paths = try (0..<2).map { index in
      let path = scratch.path("damaged-\(index).mp4")
      try DamagedClip.write(Samples.displayMatrix, seed: UInt64(index), to: path)
      return path
    }
    let lines = Mutex<[String: Int]>([:])
    func reader(_ name: String, _ input: String) throws -> UprightReader {
      try UprightRuntime.withLog(to: { level, line in
        #expect(level <= .warning && !line.isEmpty)
        lines.withLock { $0[name, default: 0] += 1 }
      }) { try UprightReader(input) }
    }
    let host = Mutex(0)
    UprightRuntime.installLog(upTo: .warning) { _, _ in host.withLock { $0 += 1 } }
    defer { UprightRuntime.installLog(upTo: .error) { _, _ in } }
    let (one, other) = (try reader("one", paths[0]), try reader("other", paths[1]))
    let whole = try reader("whole", Samples.displayMatrix)
    // By turns, so that their decoders run at the same time.
    let readers = [one, other, whole]
    func next(_ reader: UprightReader) -> Bool { (try? reader.next()) ?? nil != nil }
    while readers.map(next).contains(true) {}
    let found = lines.withLock { $0 }
    #expect(found["one", default: 0] > 0 && found["other", default: 0] > 0)
    #expect(found["whole"] == nil && host.withLock { $0 } == 0, "\(found)")
    // A session that is made outside says it to the host.
    let plain = try UprightReader(paths[0])
    while (try? plain.next()) ?? nil != nil {}
    #expect(host.withLock { $0 } > 0 && lines.withLock { $0 } == found)
  }

  @Test("A log is kept as long as a session of its own, and no longer")
  func logEnds() throws {
    final class Kept: Sendable {}
    var kept: Kept? = Kept()
    weak let held = kept
    var reader: UprightReader? = try UprightRuntime.withLog(to: { [kept] _, _ in _ = kept }) {
      try UprightReader(Samples.displayMatrix)
    }
    kept = nil
    _ = try reader?.next()
    #expect(held != nil)
    reader?.close()
    reader = nil
    #expect(until { held == nil })
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
