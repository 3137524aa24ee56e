import Foundation
import Testing

@testable import UprightFuzzer

/// Runs every file of the fuzzer's corpus through its target.
@Suite struct CorpusTests {
  private static let corpus = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Corpus")

  @Test("Every corpus file passes", arguments: FuzzTarget.all.map(\.name))
  func replay(name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let (findings, files) = target.replay(Self.corpus)
    #expect(findings.isEmpty && files > 0)
  }
}
