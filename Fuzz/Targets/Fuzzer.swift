import Foundation

// The targets use internals of the engine, which a release doesn't show. See Scripts/fuzz.sh.
#if DEBUG
/// The target named by the environment variable FUZZ_TARGET. All arguments belong to libFuzzer.
private let target: FuzzTarget = {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
    fatalError("FUZZ_TARGET=\(name) is not one of \(FuzzTarget.all.map(\.name))")
  }
  return target
}()
#endif

#if DEBUG && FUZZING
/// The function that libFuzzer, which has its own main function, calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try target([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
  } catch {
    fatalError("\(error)")
  }
  return 0
}
#else
/// Stands for libFuzzer's main function in a build without it, such as that of the tests.
@main struct WithoutFuzzer {
  static func main() { print("built without libFuzzer: use make fuzz") }
}
#endif
