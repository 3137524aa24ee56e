internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// The tables of one track (`stbl`), rewritten for several sample descriptions.
struct SampleTables {
  let bytes: [UInt8]

  init(
    _ source: [UInt8], _ range: Range<Int>, _ descriptions: SampleDescriptions
  ) throws(UprightError) {
    let boxes = MP4Boxes(source, in: range).complete
    func table(_ types: MP4BoxType...) throws(UprightError) -> MP4Box {
      guard let box = boxes.first(where: { types.contains($0.type) }) else {
        throw UprightError(.fault, "the file's index has no \(types[0])", at: descriptions.location)
      }
      return box
    }
    let sizeWords = source.numbers(in: try table("stsz").payload, width: 4)
    let runs = source.numbers(in: try table("stsc").entries, width: 4)
    let offsetBox = try table("stco", "co64")
    // 8.7.3.2: a size for all samples, the number of samples, then a size for each if there is no size for
    // all. Upright writes no file with sixteen million frames of one size.
    guard sizeWords.count >= 3, sizeWords[1] == 0 || sizeWords[2] <= 1 << 24 else {
      throw UprightError(.fault, "the file's index has a wrong stsz", at: descriptions.location)
    }
    let sizes =
      sizeWords[1] == 0
      ? Array(sizeWords.dropFirst(3)) : Array(repeating: sizeWords[1], count: sizeWords[2])
    let width = offsetBox.type == "co64" ? 8 : 4
    let offsets = source.numbers(in: offsetBox.entries, width: width)
    guard offsets.allSatisfy({ $0 <= 1 << 62 }) else {
      throw UprightError(.fault, "the file's index has a wrong co64", at: descriptions.location)
    }
    let chunks = Self.split(offsets: offsets, runs: runs, sizes: sizes, at: descriptions.runs)
    var bytes: [UInt8] = []
    for box in boxes {
      switch box.type {
      case "stsd":
        bytes += MP4Box.table(
          "stsd", count: descriptions.entries.count,
          source[box.entries] + descriptions.entries.dropFirst().flatMap { $0 })
      case "stsc": bytes += Self.chunkRuns(chunks)
      case offsetBox.type:
        bytes += MP4Box.table(
          box.type, count: chunks.count, chunks.flatMap { [UInt8].big($0.offset, bytes: width) })
      default: bytes += source[box.whole]
      }
    }
    self.bytes = bytes
  }

  private struct Chunk {
    let offset: Int
    var samples: Int
    /// The index of the description, from 1.
    let description: Int
  }

  /// Returns the chunks, split where a run begins: all samples of a chunk have one description (8.7.4).
  private static func split(
    offsets: [Int], runs: [Int], sizes: [Int], at formats: [SampleDescriptions.Run]
  ) -> [Chunk] {
    var chunks: [Chunk] = []
    var sample = 0
    var description = 1
    var format = 0
    var entry = 0
    for (index, start) in offsets.enumerated() {
      // An entry of `runs`: first chunk (from 1), samples per chunk, description.
      while (entry + 1) * 3 + 2 < runs.count, runs[(entry + 1) * 3] <= index + 1 { entry += 1 }
      guard entry * 3 + 1 < runs.count else { break }
      let end = min(sample + runs[entry * 3 + 1], sizes.count)
      var offset = start
      var chunk = Chunk(offset: offset, samples: 0, description: description)
      while sample < end {
        if format < formats.count, formats[format].firstSample == sample {
          description = formats[format].description
          format += 1
          if chunk.samples > 0 { chunks.append(chunk) }
          chunk = Chunk(offset: offset, samples: 0, description: description)
        }
        offset += sizes[sample]
        chunk.samples += 1
        sample += 1
      }
      chunks.append(chunk)
    }
    return chunks
  }

  /// Returns `stsc`: an entry for each chunk whose number of samples or description differs
  /// from the chunk before.
  private static func chunkRuns(_ chunks: [Chunk]) -> [UInt8] {
    var lines: [UInt8] = []
    var count = 0
    var last: (Int, Int)?
    for (index, chunk) in chunks.enumerated() {
      if let last, last == (chunk.samples, chunk.description) { continue }
      last = (chunk.samples, chunk.description)
      for number in [index + 1, chunk.samples, chunk.description] {
        lines += .big(number, bytes: 4)
      }
      count += 1
    }
    return MP4Box.table("stsc", count: count, lines)
  }
}
