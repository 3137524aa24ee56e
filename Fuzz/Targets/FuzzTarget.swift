#if DEBUG
import Foundation

/// One function that reads external input.
///
/// A trap or a thrown `Finding` is a finding. Other errors are how a reader rejects its input.
struct FuzzTarget: Sendable {
  let name: String
  let run: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, _ run: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.run = run
  }

  /// Runs the target on one input.
  ///
  /// - Throws: `Finding` if a condition that must hold is violated.
  func callAsFunction(_ bytes: [UInt8]) throws {
    do {
      try run(bytes)
    } catch let finding as Finding {
      throw finding
    } catch {
      // The input was rejected. The error's text is shown to users, so it is formatted too.
      _ = "\(error)"
    }
  }
}

extension FuzzTarget {
  /// Runs every file in `corpus`/NAME through the target. Returns the errors, and the number of files.
  func replay(_ corpus: URL) -> (findings: [String], files: Int) {
    let folder = corpus.appendingPathComponent(name)
    let files =
      (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil))
      ?? []
    let findings = files.compactMap { file -> String? in
      do { try self([UInt8](Data(contentsOf: file))) } catch {
        return "\(file.lastPathComponent): \(error)"
      }
      return nil
    }
    return (findings, files.count)
  }
}

/// A violated condition.
struct Finding: Error, CustomStringConvertible {
  let description: String
}

/// - Throws: `Finding` if `condition` is false.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw Finding(description: what()) }
}

/// The bytes of one input, consumed from the front. After the end all numbers are 0.
struct FuzzInput {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  mutating func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number {
    (0..<Number.bitWidth / 8).reduce(0) { number, _ in number << 8 | Number(byte()) }
  }

  /// Returns up to `count` bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Returns a piece that follows its length in two bytes, as in the seeds.
  mutating func piece() -> [UInt8] { bytes(Int(integer(UInt16.self))) }

  mutating func choice<Value>(_ values: [Value]) -> Value {
    values[Int(byte()) % values.count]
  }

  /// Returns a number of ticks: a limit, or a value from the input.
  mutating func ticks() -> Int64 {
    let kind = byte()
    switch kind {
    case 0: return 0
    case 1: return .min
    case 2: return .max
    case 3: return .min + 1
    case 4: return 1 << 60
    case 5: return -(1 << 60)
    case 6: return Int64(integer(Int32.self))
    case 7: return 1 << Int64(byte() & 63)
    case 8: return -1 << Int64(byte() & 63)
    case 9...15: return integer(Int64.self)
    default: return Int64(kind) * 40
    }
  }

  /// Returns a number of seconds or of any other unit, including NaN and infinity.
  mutating func double() -> Double {
    let kind = byte()
    switch kind {
    case 0: return 0
    case 1: return .infinity
    case 2: return -.infinity
    case 3: return .nan
    case 4: return .greatestFiniteMagnitude
    case 5: return .leastNonzeroMagnitude
    case 6: return 0x1p63
    case 7: return -0x1p63
    case 8...15: return Double(bitPattern: integer())
    default: return (Double(kind) - 128) / 16
    }
  }
}
#endif
