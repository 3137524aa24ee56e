import Foundation
import Logging
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("The parts of a library")
struct LibraryTests {
  @Test("What a URL names")
  func targets() throws {
    let version = "0123456789abcdef-720p"
    let target = try #require(LibraryTarget("/vod/a/b%20c.mp4/~1.k.s/\(version)/17.m4s"))
    #expect(target.path.text == "a/b c.mp4" && target.path.encoded == "a/b%20c.mp4")
    #expect(target.path.fileExtension == "mp4" && target.signature == "1.k.s")
    let named = try #require(LibraryVersion(version[...]))
    #expect(target.content == .file(.segment(17, .all), named) && named.size == "720p")
    #expect(LibraryTarget("/vod/%FF.mp4/index.m3u8")?.path.encoded == "%FF.mp4")
    #expect(LibraryTarget("/vod/a.mp4/poster.jpg")?.content == .poster)
    #expect(LibraryTarget("/vod/a.mp4/master.m3u8")?.content == .master)
    #expect(LibraryTarget("/vod/a.mp4/sprites.vtt")?.content == .sprites)
    #expect(
      LibraryTarget("/vod/a.mp4/\(version)/audio-1-init-2.mp4")?.content
        == .file(.initial(2, .audio(1)), named))
    let hdr = try #require(LibraryVersion((version + "-hdr")[...]))
    #expect(hdr.coding == .hdr && named.coding == nil && hdr.description == version + "-hdr")
    #expect(LibraryVersion((version + "-h264")[...])?.coding == .h264)
    #expect(
      LibraryTarget("/vod/a.mp4/\(version)-hdr/captions-0-1.vtt")?.content
        == .file(.captions(0, format: 1), hdr))
    for wrong in [
      "/vod", "/vod/", "/vod/index.m3u8", "/vod/~1.k.s/index.m3u8", "/vod/a.mp4",
      "/vod//index.m3u8",
      "/vod/a.mp4/\(version)-sdr/0.m4s", "/vod/a.mp4/\(version)-hdr-h264/0.m4s",
      "/vod/a.mp4/17.m4s", "/vod/a.mp4/x-720p/17.m4s",
      "/vod/a.mp4/0123456789abcdef-5p/17.m4s",
      "/vod/a.mp4/\(version)/017.m4s", "/vod/a.mp4/\(version)/-1.m4s", "/vod/../index.m3u8",
      "/vod/a.mp4/\(version)/99999999999999999999.m4s", "/vod/a%2fb.mp4/index.m3u8",
      "/vod/a%00.mp4/index.m3u8", "/vod/a%4/index.m3u8",
    ] {
      #expect(LibraryTarget(wrong) == nil, "\(wrong)")
    }
  }

  /// What has happened, in order.
  private final class Log: Sendable {
    private let entries = Mutex<[Int]>([])
    var all: [Int] { entries.withLock { $0 } }
    func add(_ entry: Int) { entries.withLock { $0.append(entry) } }
  }

  @Test("Work is done once for all who wait, and cancelled when none does any more")
  func shared() async throws {
    let work = SharedWork<String, Int>()
    let runs = Log()
    let gate = AsyncStream.makeStream(of: Void.self)
    let callers = (0..<50).map { _ in
      Task {
        try await work.value("a") {
          runs.add(1)
          for await _ in gate.stream { break }
          return runs.all.count
        }
      }
    }
    #expect(try await waitUntil { runs.all.count == 1 && work.waiting(for: "a") == 50 })
    for caller in callers.prefix(20) { caller.cancel() }
    gate.continuation.yield()
    for caller in callers.dropFirst(20) { #expect(try await caller.value == 1) }

    let ends = Log()
    let lonely = Task {
      try await work.value("b") {
        do { try await Task.sleep(for: .seconds(60)) } catch {
          ends.add(0)
          throw error
        }
        return 0
      }
    }
    #expect(try await work.value("c") { 3 } == 3)
    lonely.cancel()
    await #expect(throws: CancellationError.self) { try await lonely.value }
    #expect(ends.all == [0])
  }

  @Test("So many renders run at a time; a few wait, in order; the rest is refused")
  func slots() async throws {
    let slots = RenderSlots(1, waiting: 2)
    let gate = AsyncStream.makeStream(of: Void.self)
    let order = Log()
    let running = Task { try await slots.run { for await _ in gate.stream { break } } }
    #expect(try await waitUntil { !slots.hasFreeSlot })
    var waiting: [Task<Void, any Error>] = []
    for number in 0..<2 {
      waiting.append(Task { try await slots.run { order.add(number) } })
      #expect(try await waitUntil { slots.waiting == number + 1 })
    }
    await #expect(throws: Problem.self) { try await slots.run {} }
    let refused = Task { try await slots.run {} }
    refused.cancel()
    _ = await refused.result
    waiting[0].cancel()
    await #expect(throws: CancellationError.self) { try await waiting[0].value }
    gate.continuation.yield()
    try await running.value
    try await waiting[1].value
    #expect(order.all == [1] && slots.hasFreeSlot)
  }

  @Test("The files that weren't used for the longest time go first, also after a restart")
  func cache() throws {
    let scratch = try Scratch()
    let logger = Logger(label: "test")
    let cache = SegmentCache(scratch.folder.path, limit: 1000, logger: logger)
    for index in 0..<10 { cache.store([UInt8](repeating: 0, count: 100), "v/\(index)") }
    #expect(cache.size == 1000 && cache.open("v/0") != nil)
    let open = try #require(cache.open("v/1"))
    cache.store([1], "w/0")
    #expect(cache.open("v/0") != nil && cache.open("v/9") != nil && cache.size <= 900)
    #expect(cache.open("v/2") == nil && open.size == 100)
    cache.store([UInt8](repeating: 0, count: 1001), "w/1")
    #expect(cache.open("w/1") == nil)
    try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.path("v/3.1.partial")))
    let again = SegmentCache(scratch.folder.path, limit: 150, logger: logger)
    #expect(
      again.size <= 135 && !FileManager.default.fileExists(atPath: scratch.path("v/3.1.partial")))
  }
}
