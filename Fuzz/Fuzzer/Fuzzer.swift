import Foundation

/// The target that is named in the environment: all arguments are libFuzzer's.
private let target: FuzzTarget = {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
    fatalError("FUZZ_TARGET=\(name) is none of \(FuzzTarget.all.map(\.name))")
  }
  return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try target([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
  } catch {
    fatalError("\(error)")
  }
  return 0
}
