package import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

extension ChunkPlan {
  /// The largest number of frames of a plan: 19 days at 30 frames per second. Reading one takes 8 bytes for each.
  private static let largestCount = 50_000_000

  /// Reads the text of a plan.
  ///
  /// - Throws: `badData` for anything that isn't a plan, or one of another version. Whether it fits the input and
  ///   the libraries is checked when it is used.
  package init(parsing text: some Collection<UInt8>) throws(UprightError) {
    let top: JSONNode
    do throws(PolicyError) {
      top = JSONNode(document: try JSONValue(parsing: text))
      let version = try top.required("version").count(in: 0...TickRuns.largest)
      guard version == Self.version else {
        throw PolicyError(
          .value, "a plan of version \(version), and this Upright reads version \(Self.version)",
          at: "version", remedy: "use the Upright that made it, or plan again")
      }
    } catch {
      throw UprightError(error, code: .badData)
    }
    do {
      try self.init(top)
    } catch let error as PolicyError {
      throw UprightError(error, code: .badData)
    } catch let error as UprightError {
      // An option that the command line would refuse is damage here.
      throw UprightError(.badData, error.message, at: error.location, remedy: error.remedy)
    } catch {
      throw UprightError(.fault, "\(error)")
    }
  }

  private init(_ top: JSONNode) throws {
    tools = try top.required("tools").elements("versions").map { try $0.string() }
    let source = try top.required("input")
    input = try source.required("path").string()
    inputFormat = try source.optional("format")?.string()
    identity = try InputIdentity(source)
    let target = try top.required("output")
    output = try target.required("path").string()
    outputFormat = try target.optional("format")?.string()
    container = try target.required("container").value(OutputContainer.init(rawValue:))
    var reader = try OptionReader(top.required("options").value.compact.utf8)
    options = try TranscodeOptions(&reader)
    try reader.finish()
    policy = try PolicyDocument(top.required("policy").value)
    events = try top.optional("events")?.elements("events").map { try RotationEvent($0.value) }
    stills = try top.required("stills").elements("still pictures").map {
      Still(
        path: try $0.required("path").string(), digest: try $0.required("digest").string())
    }
    reason = try top.required("reason").string()
    warnings = try top.required("warnings").elements("warnings").map { try $0.string() }
    timeline = try top.optional("timeline")?.value
    video = try top.optional("video").map { try Video($0, within: Self.largestCount) }
    chunks = try Self.chunks(top.required("chunks"), frames: video?.times.count)
  }

  /// - Parameter count: The number of frames; `nil` if no chunk is a run of frames.
  private static func chunks(_ node: JSONNode, frames count: Int?) throws -> [Chunk] {
    var (chunks, next) = ([Chunk](), 0)
    for chunk in try node.elements("chunks") {
      let work = try chunk.required("work")
      switch try work.string() {
      case "tracks": chunks.append(.tracks(digest: try chunk.required("digest").string()))
      case "whole": chunks.append(.whole)
      case let word where ["encode", "copy"].contains(word):
        // The chunks are in order and without gaps.
        let last = try chunk.required("last").count(in: next...max(next, (count ?? 0) - 1))
        guard try chunk.required("first").count(in: next...next) == next, next < count ?? 0 else {
          throw work.failure(.value, "there are no such frames", remedy: "plan again")
        }
        let reason = try chunk.optional("reason")?.string()
        guard (reason == nil) == (word == "copy") else { throw work.wrongType("copy or encode") }
        chunks.append(
          .frames(
            Frames(
              frames: next..<last + 1, start: try chunk.required("from").number(),
              end: try chunk.optional("to")?.number(), reason: reason,
              digest: try chunk.required("digest").string())))
        next = last + 1
      default: throw work.wrongType("encode, copy, tracks or whole")
      }
    }
    let others = chunks.count { if case .frames = $0 { false } else { true } }
    let isWhole = chunks.contains { if case .whole = $0 { true } else { false } }
    guard next == count ?? 0, others <= 1, !isWhole || chunks.count == 1 else {
      throw node.failure(.value, "the chunks are incomplete", remedy: "plan again")
    }
    return chunks
  }
}

extension ChunkPlan.Video {
  fileprivate init(_ node: JSONNode, within limit: Int) throws {
    stream = try node.required("stream").count(in: 0...Int(Int32.max))
    timeBase = try node.required("time_base").rational()
    let count = try node.required("frames").count(in: 1...limit)
    times = try TickRuns.ticks(node.required("times"), count: count)
    guard zip(times, times.dropFirst()).allSatisfy(<) else {
      throw try node.required("times").failure(
        .value, "the times are not ascending", remedy: "plan again")
    }
    var changes: [SignalScan.Change] = []
    for change in try node.required("signals").elements("signals") {
      let first = changes.last.map { $0.frame + 1 } ?? 0
      guard first < count else { throw change.wrongType("no further signal") }
      let frame = try change.required("frame").count(in: first...count - 1)
      let size = try change.required("size").size()
      changes.append(
        SignalScan.Change(
          time: MediaTime(times[frame], timeBase) - MediaTime(times[0], timeBase), frame: frame,
          size: size, shown: try change.optional("shown")?.size() ?? size,
          signals: try [change.signal()].compactMap(\.self)))
    }
    self.changes = changes
    warnings = try node.required("warnings").elements("warnings").map { try $0.string() }
    alignment = try node.required("alignment").size()
    join = try node.optional("join").map { try ChunkPlan.Join($0, count: count) }
  }
}

extension ChunkPlan.Join {
  fileprivate init(_ node: JSONNode, count: Int) throws {
    decodingTimes = try TickRuns.ticks(node.required("decoding_times"), count: count)
    sets = try node.required("sets").elements("parameter sets").map { try $0.bytes() }
    reordering = try node.optional("reordering")?.count(in: 0...64)
    shared = try CodecParameters(node.required("parameters"))
  }
}

extension JSONNode {
  /// Returns one of the values that a text names.
  fileprivate func value<Value>(_ read: (String) -> Value?) throws(PolicyError) -> Value {
    guard let value = read(try string()) else { throw wrongType("another word") }
    return value
  }

  private func pair() throws(PolicyError) -> (Int, Int) {
    let numbers = try elements("two numbers")
    guard numbers.count == 2 else { throw wrongType("two numbers") }
    let range = 1...Int(Int32.max)
    return (try numbers[0].count(in: range), try numbers[1].count(in: range))
  }

  fileprivate func rational() throws(PolicyError) -> Rational {
    let (numerator, denominator) = try pair()
    return Rational(numerator, denominator)
  }

  fileprivate func size() throws(PolicyError) -> PixelSize {
    let (width, height) = try pair()
    return PixelSize(width, height)
  }

  fileprivate func signal() throws(PolicyError) -> OrientationSignal? {
    guard let source = try optional("source") else { return nil }
    let degrees = try required("degrees")
    guard
      let turn = DisplayTurn(
        isMirrored: try required("mirrored").bool(), clockwiseDegrees: try degrees.number())
    else { throw degrees.wrongType("an angle") }
    return OrientationSignal(
      try source.value(OrientationSignal.Source.init(rawValue:)), turn)
  }
}
