package import UprightOrientation
internal import UprightKernels
package import UprightPolicy
internal import UprightFrames
internal import UprightMediaIO

extension TranscodeOptions {
  /// The options by the names of the command line, without those that have their defaults. Reading them with
  /// `OptionReader` gives the same options.
  ///
  /// - Throws: `usage` for a value that only a program can set, and that has no name.
  package func named() throws(UprightError) -> JSONValue {
    if filter != Self().filter {
      throw UprightError(.usage, "the filter \(filter.rawValue) has no name", at: "filter")
    }
    let gravityName = GravityConstants.allCases.first { $0.configuration == gravity }
    guard let gravityName else {
      throw UprightError(.usage, "these constants have no name", at: "--gravity")
    }
    var members = Members()
    members.add("frames", frames.name, unless: "metadata")
    members.add("canvas", canvas.rawValue, unless: CanvasRule.auto.rawValue)
    members.add("reference", reference?.rawValue)
    members.add("fit", fit?.rawValue)
    members.add("portrait-fit", portraitFit?.rawValue)
    members.add("landscape-fit", landscapeFit?.rawValue)
    members.add("anchor", anchor.rawValue, unless: Anchor.center.rawValue)
    members.add("focus-ease", focusEase, unless: 0.5)
    members.add("background", background.hex, unless: "000000")
    members.add("slate", slate)
    if !overlays.isEmpty {
      members.list.append(.init("overlay", .array(overlays.map { .string($0.text) })))
    }
    members.add("level", levels)
    members.add("size", size?.text)
    if !ladder.isEmpty { members.list.append(.init("ladder", .array(ladder.map(\.json)))) }
    members.add("landscape-output", landscapeOutput)
    members.add("capture-size", captureSize?.description)
    members.add("scaler", scaler.rawValue, unless: ScalerChoice.auto.rawValue)
    members.add("codec", codec?.rawValue)
    switch rate {
    case .constantQuality(let quality): members.add("crf", quality)
    case .bitrate(let bits): members.add("bitrate", "\(bits)")
    }
    members.add("speed", speed)
    members.add("gop", gop)
    if isLive { members.add("latency", Latency.live.rawValue) }
    members.add("threads", threads > 0 ? threads : nil)
    if !encoderOptions.isEmpty {
      let pairs = encoderOptions.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      members.add("encoder-options", pairs.joined(separator: ":"))
    }
    members.add("segment", segmentDuration, unless: 6)
    members.add("hls-segments", segments.rawValue, unless: SegmentKind.fmp4.rawValue)
    members.add("split", splits)
    members.add("start", start)
    members.add("to", end)
    members.add("events-offset", eventsOffset, unless: 0)
    members.add("audio", audio)
    members.add("gravity", gravityName.rawValue, unless: GravityConstants.android.rawValue)
    members.add("upright", upright.rawValue, unless: UprightRule.pixels.rawValue)
    if copiesWhatFits || reencode != .auto { members.add("reencode", reencode.rawValue) }
    members.add("chunks", chunks.text, unless: "1")
    members.add("chunk-seconds", chunkDuration)
    members.add("strict", isStrict)
    members.add("keep-location", keepsLocation)
    members.add("keep-partial", keepsPartial)
    members.add("overwrite", overwrites)
    return .object(members.list)
  }

  /// The members of an object, of which none has its default.
  private struct Members {
    var list: [JSONValue.Member] = []

    mutating func add(_ name: String, _ text: String?, unless standard: String? = nil) {
      if let text, text != standard { list.append(.init(name, .string(text))) }
    }

    mutating func add(_ name: String, _ number: Double?, unless standard: Double? = nil) {
      if let number, number != standard { list.append(.init(name, .number(number))) }
    }

    mutating func add(_ name: String, _ count: Int?) {
      if let count { list.append(.init(name, .integer(count))) }
    }

    mutating func add(_ name: String, _ flag: Bool) {
      if flag { list.append(.init(name, .bool(true))) }
    }
  }
}

extension ChunkRule {
  fileprivate var text: String {
    switch self {
    case .auto: "auto"
    case .count(let count): "\(count)"
    }
  }
}

extension SizeRule {
  fileprivate var text: String {
    switch self {
    case .source: "source"
    case .pair(let size): size.description
    }
  }
}

extension FrameKind {
  fileprivate var name: String {
    switch self {
    case .metadata: return "metadata"
    case .upright: return "upright"
    case .sensor(let camera):
      let words = ["\(camera.sensorOrientation)", camera.position.rawValue]
      return "sensor:" + (words + (camera.mirrors ? ["mirror"] : [])).joined(separator: ",")
    }
  }
}

extension Overlay {
  /// The text that `init(parsing:)` reads.
  fileprivate var text: String {
    var text = "\(path)@\(anchor.rawValue):\(margin)"
    if let size { text += ":\(size)" }
    return attachment == .window ? text + ":window" : text
  }
}

extension RGBColour {
  fileprivate var hex: String { [red, green, blue].hexadecimal }
}

extension Rung {
  fileprivate var json: JSONValue {
    switch rate {
    case nil, .constantQuality(nil): .string("\(size)")
    case .constantQuality(let quality?): .string("\(size):crf=\(quality)")
    case .bitrate(let bits): .string("\(size):\(bits)")
    }
  }
}
