public import UprightOrientation
internal import UprightKernels
public import UprightPolicy
internal import UprightFrames
internal import UprightMediaIO

extension TranscodeOptions {
  /// The options by the names of the command line, without those that have their defaults. `init(json:)` reads them.
  ///
  /// - Throws: `usage` for a value that only a program can set, and that has no name.
  public func named() throws(UprightError) -> JSONValue {
    if filter != Self().filter {
      throw UprightError(.usage, "the filter \(filter.rawValue) has no name", at: "filter")
    }
    guard GravityConstants.allCases.contains(where: { $0.configuration == gravity }) else {
      throw UprightError(.usage, "these constants have no name", at: "--gravity")
    }
    let standard = TranscodeOptions()
    return .object(
      TranscodeOption.all.compactMap { option in
        let value = option.value(self)
        return value == .null || value == option.value(standard)
          ? nil : JSONValue.Member(option.name, value)
      })
  }
}

extension ChunkRule {
  var text: String {
    switch self {
    case .auto: "auto"
    case .count(let count): "\(count)"
    }
  }
}

extension SizeRule {
  var text: String {
    switch self {
    case .source: "source"
    case .pair(let size): size.description
    }
  }
}

extension FrameKind {
  var name: String {
    switch self {
    case .metadata: return "metadata"
    case .gravity: return "gravity"
    case .upright: return "upright"
    case .sensor(let camera):
      let words = ["\(camera.sensorOrientation)", camera.position.rawValue]
      return "sensor:" + (words + (camera.mirrors ? ["mirror"] : [])).joined(separator: ",")
    }
  }
}

extension Overlay {
  /// The text that `init(parsing:)` reads.
  var text: String {
    var text = "\(path)@\(anchor.rawValue):\(margin)"
    if let size { text += ":\(size)" }
    return attachment == .window ? text + ":window" : text
  }
}

extension RGBColour {
  var hex: String { [red, green, blue].hexadecimal }
}

extension Rung {
  /// The text that `init(parsing:)` reads.
  var text: String {
    switch rate {
    case nil, .constantQuality(nil): "\(size)"
    case .constantQuality(let quality?): "\(size):crf=\(quality)"
    case .bitrate(let bits): "\(size):\(bits)"
    }
  }
}
