import Foundation
import Testing

/// Runs every file of the fuzzer's corpus through its target.
@Suite struct CorpusTests {
  private static let corpus = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Corpus")

  @Test("Every corpus file passes", arguments: FuzzTarget.all.map(\.name))
  func replay(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let folder = Self.corpus.appendingPathComponent(name)
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(!files.isEmpty)
    for file in files {
      do {
        try target([UInt8](Data(contentsOf: file)))
      } catch {
        Issue.record("\(file.lastPathComponent): \(error)")
      }
    }
  }
}
