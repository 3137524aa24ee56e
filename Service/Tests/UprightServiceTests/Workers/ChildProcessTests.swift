import Foundation
import Testing

@testable import UprightService

@Suite("Processes that the service starts")
struct ChildProcessTests {
  @Test(
    "The end is known before the process is removed",
    arguments: [
      ("exit 3", "exited with status 3"),
      ("kill -SEGV $$", "was ended by SIGSEGV (Segmentation fault)"),
    ])
  func end(_ script: String, _ description: String) throws {
    let process = try ChildProcess("/bin/sh", arguments: ["sh", "-c", script], descriptors: [])
    #expect(process.waitForEnd().description == description)
    #expect(kill(process.id, 0) == 0)
    #expect(process.wait().description == description)
    #expect(kill(process.id, 0) == -1)
  }
}
