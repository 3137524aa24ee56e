import Foundation

/// A YUV4MPEG2 file: a sequence of raw frames, with the sizes of their planes.
package struct Y4M: Sendable {
  /// The size of a plane, in samples.
  package struct Plane: Sendable, Hashable {
    package let width: Int
    package let height: Int
  }

  /// The first difference between two files.
  package struct Difference: Sendable, CustomStringConvertible {
    package let frame: Int
    package let plane: Int
    package let x: Int
    package let y: Int
    package let expected: Int
    package let actual: Int

    /// The difference in one line.
    package var description: String {
      "frame \(frame), plane \(plane), x \(x), y \(y): expected \(expected), got \(actual)"
    }
  }

  /// The header's fields by letter: `W`, `H`, `C`, `A`, ...
  package let fields: [Character: String]
  /// The size of a frame, in pixels.
  package let width: Int
  package let height: Int
  /// The bytes per sample: 1, or 2 in little-endian order.
  package let sampleBytes: Int
  package let planes: [Plane]
  private let data: Data
  /// The offset of each frame's samples in `data`.
  private let starts: [Int]

  /// The error for data that isn't valid YUV4MPEG2.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  /// Reads the file at `path`.
  package init(path: String) throws {
    try self.init(Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped))
  }

  /// Parses the contents of a file.
  package init(_ data: Data) throws {
    guard let end = data.firstIndex(of: 10), data.starts(with: Array("YUV4MPEG2 ".utf8)) else {
      throw Malformed(description: "no YUV4MPEG2 header")
    }
    var fields: [Character: String] = [:]
    for word in String(decoding: data[..<end], as: UTF8.self).split(separator: " ").dropFirst() {
      guard let letter = word.first, letter != "X" || fields["X"] == nil else { continue }
      fields[letter] = String(word.dropFirst())
    }
    guard let width = fields["W"].flatMap({ Int($0) }),
      let height = fields["H"].flatMap({ Int($0) })
    else { throw Malformed(description: "no size: \(fields)") }
    let format = fields["C"] ?? "420"
    let depth = format.firstIndex(of: "p").flatMap { Int(format[format.index(after: $0)...]) } ?? 8
    (self.width, self.height, self.fields, self.data) = (width, height, fields, data)
    sampleBytes = depth > 8 || format == "mono10" || format == "mono16" ? 2 : 1
    planes = Self.planes(format, width, height)
    let size = planes.reduce(0) { $0 + $1.width * $1.height } * sampleBytes
    var starts: [Int] = []
    var position = end + 1
    while position < data.count {
      guard let line = data[position...].prefix(200).firstIndex(of: 10),
        data[position...].starts(with: Array("FRAME".utf8)), line + 1 + size <= data.count
      else { throw Malformed(description: "frame \(starts.count) is incomplete") }
      starts.append(line + 1)
      position = line + 1 + size
    }
    self.starts = starts
  }

  private static func planes(_ format: String, _ width: Int, _ height: Int) -> [Plane] {
    let luma = Plane(width: width, height: height)
    let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    if format.hasPrefix("mono") { return [luma] }
    let chroma =
      switch format.prefix(3) {
      case "444": luma
      case "422": Plane(width: halfWidth, height: height)
      case "411": Plane(width: (width + 3) / 4, height: height)
      default: Plane(width: halfWidth, height: halfHeight)
      }
    return [luma, chroma, chroma]
  }

  /// The number of frames.
  package var count: Int { starts.count }

  /// Returns the sample of plane `plane` at (`x`, `y`).
  package func sample(frame: Int, plane: Int, x: Int, y: Int) -> Int {
    let start = starts[frame] + offset(of: plane) + (y * planes[plane].width + x) * sampleBytes
    return sampleBytes == 1 ? Int(data[start]) : Int(data[start]) | Int(data[start + 1]) << 8
  }

  /// Returns the three samples of the pixel at (`x`, `y`), with the nearest chroma samples.
  package func pixel(frame: Int, x: Int, y: Int) -> [Int] {
    planes.indices.map { plane in
      sample(
        frame: frame, plane: plane,
        x: min(x * planes[plane].width / width, planes[plane].width - 1),
        y: min(y * planes[plane].height / height, planes[plane].height - 1))
    }
  }

  /// Returns the bytes of one plane of a frame.
  package func plane(_ plane: Int, frame: Int) -> Data {
    let start = starts[frame] + offset(of: plane)
    return data[start..<start + planes[plane].width * planes[plane].height * sampleBytes]
  }

  private func offset(of plane: Int) -> Int {
    planes[..<plane].reduce(0) { $0 + $1.width * $1.height } * sampleBytes
  }

  /// Returns the first difference from `expected`, which has the same size and format. Returns `nil` if
  /// there is none.
  ///
  /// - Parameter planes: The planes to compare. `nil` compares all.
  package func difference(from expected: Y4M, planes wanted: [Int]? = nil) -> Difference? {
    for frame in 0..<min(count, expected.count) {
      for plane in wanted ?? Array(planes.indices) {
        let (mine, theirs) = (self.plane(plane, frame: frame), expected.plane(plane, frame: frame))
        if let offset = Self.firstDifference(mine, theirs) {
          let (sample, width) = (offset / sampleBytes, planes[plane].width)
          let (x, y) = (sample % width, sample / width)
          return Difference(
            frame: frame, plane: plane, x: x, y: y,
            expected: expected.sample(frame: frame, plane: plane, x: x, y: y),
            actual: self.sample(frame: frame, plane: plane, x: x, y: y))
        }
      }
    }
    return nil
  }

  private static func firstDifference(_ a: Data, _ b: Data) -> Int? {
    a.withUnsafeBytes { a in
      b.withUnsafeBytes { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return nil }
        let count = min(a.count, b.count)
        // Compares in blocks, so that only the block that differs is compared byte by byte.
        for start in stride(from: 0, to: count, by: 256) {
          let length = min(256, count - start)
          if memcmp(first + start, second + start, length) != 0 {
            return (start..<start + length).first { a[$0] != b[$0] }
          }
        }
        return a.count == b.count ? nil : count
      }
    }
  }
}
