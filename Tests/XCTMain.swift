import Testing

/// The entry point of the test program.
///
/// SwiftPM would generate the same, and discover XCTest's classes in an index of all sources for it. There are
/// none here, and writing the index takes a sixth of a build.
@main
struct TestProgram {
  static func main() async {
    // `swift test` also runs the program for XCTest.
    if CommandLine.arguments.contains("xctest") { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
