import Foundation
import UprightOrientation
import Testing
import UprightMedia
import UprightTestSupport

@Suite("Files that appear when they are complete")
struct StagedFileTests {
  @Test("A file that is being written isn't taken for abandoned, however recently it was created")
  func recent() throws {
    let scratch = try Scratch()
    let writers = (0..<2).map { writer in
      WorkThread(name: "write") { () -> [String] in
        (0..<1000).compactMap { number in
          do throws(UprightError) {
            let file = try StagedFile(path: scratch.path("out-\(writer)-\(number).json"))
            try file.append([1, 2, 3])
            return try file.publish() ? nil : "\(number) existed"
          } catch {
            return "\(number): \(error)"
          }
        }
      }
    }
    let remover = WorkThread(name: "remove") {
      // The files are formats of this output.
      for _ in 0..<1000 { try? StagedFile.removeAbandoned(of: scratch.path("out.json")) }
    }
    #expect(writers.flatMap { $0.join() ?? ["no result"] } == [])
    remover.join()
    #expect(scratch.names.count == 2000 && !scratch.names.contains { $0.hasPrefix(".") })
  }

  @Test("A file that no process holds locked is removed, and one that is locked is an error")
  func abandoned() throws {
    let scratch = try Scratch()
    let path = scratch.path("out.mp4")
    let left = [".out.mp4.4294967296.part", ".out-2.mp4.4294967297.part"]
    let others = [".outer.mp4.4294967298.part", ".out.mp4.x.part"]
    for name in left + others { try Data([1]).write(to: URL(fileURLWithPath: scratch.path(name))) }
    try StagedFile.removeAbandoned(of: path)
    #expect(scratch.names == others.sorted())
    let file = try StagedFile(path: path)
    let error = #expect(throws: UprightError.self) { try StagedFile.removeAbandoned(of: path) }
    #expect(error?.code == .cannotCreate)
    try file.commit([1])
    #expect(FileManager.default.contents(atPath: path) == Data([1]))
  }

  @Test("The longest names are written, and locked meanwhile", arguments: ["a", "é", "录"])
  func longest(_ character: String) throws {
    let scratch = try Scratch()
    let name = String(repeating: character, count: 250 / character.utf8.count) + ".mp4"
    let path = scratch.path(name)
    let file = try StagedFile(path: path)
    #expect(throws: UprightError.self) { try StagedFile.removeAbandoned(of: path) }
    try file.commit([1])
    #expect(scratch.names == [name])
    let error = #expect(throws: UprightError.self) { try StagedFile(path: path + "xxxx") }
    #expect(error?.code == .cannotCreate)
  }
}
