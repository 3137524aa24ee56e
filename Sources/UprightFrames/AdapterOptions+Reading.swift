package import UprightOrientation
package import UprightKernels
package import UprightPolicy

extension AdapterOptions {
  /// Reads the options of a `FrameAdapter`.
  ///
  /// - Throws: `usage` for an invalid value.
  package init(_ policy: PolicyDocument, _ reader: inout OptionReader) throws(UprightError) {
    self.init()
    self.policy = policy
    frames = try reader.parsed("frames", FrameKind.init(parsing:)) ?? frames
    reference = try reader.word("reference")
    canvas = try reader.word("canvas", as: CanvasWord.self)?.canvas ?? canvas
    size =
      try reader.parsed("size") { (text) throws(UprightError) -> PixelSize? in
        if let preset = StreamPreset.named(text) { return preset.size }
        if text.lowercased() == "source" { return nil }
        return try PixelSize(encoding: text)
      } ?? nil
    if size == nil, reader.json("size") != nil {
      guard canvas == nil || canvas == .frame else {
        throw UprightError(
          .usage, "the size source is that of each upright frame, and the canvas is another one",
          at: "size", remedy: "leave out the canvas, or give a size")
      }
      canvas = .frame
    }
    fit = try reader.word("fit") ?? fit
    anchor = try reader.word("anchor") ?? anchor
    focusEase = try reader.number("focus-ease", in: FocusRule.durations) ?? focusEase
    background = try reader.parsed("background", RGBColour.init(parsing:)) ?? background
    filter = try reader.word("filter") ?? filter
    gravity = try reader.word("gravity", as: GravityConstants.self)?.configuration ?? gravity
  }

  private enum CanvasWord: String, CaseIterable {
    case follow, portrait, landscape, initial, frame

    var canvas: FrameCanvas {
      switch self {
      case .follow: .follow
      case .portrait: .portrait
      case .landscape: .landscape
      case .initial: .initial
      case .frame: .frame
      }
    }
  }
}

/// `--gravity`.
package enum GravityConstants: String, CaseIterable {
  /// Android's WindowOrientationListener: filtered, with hysteresis and waiting.
  case android
  /// iio-sensor-proxy: thresholds on two axes.
  case iio

  package var configuration: GravityClassifier.Configuration {
    switch self {
    case .android: .android
    case .iio: .iioSensorProxy
    }
  }
}

extension FrameKind {
  /// Parses `metadata`, `gravity`, `upright` or `sensor[:DEGREES][,front|back][,mirror]`.
  ///
  /// - Throws: `usage` for anything else.
  package init(parsing text: String) throws(UprightError) {
    let lowered = text.lowercased()
    switch lowered {
    case "metadata": self = .metadata
    case "gravity": self = .gravity
    case "upright": self = .upright
    case "sensor": self = .sensor(Camera())
    default:
      let error = UprightError(
        .usage, "\(text) is not a kind of frames", at: "--frames",
        remedy: "use metadata, gravity, upright, sensor or sensor:90,front")
      guard lowered.hasPrefix("sensor:") else { throw error }
      var camera = Camera()
      for word in lowered.dropFirst(7).split(separator: ",", omittingEmptySubsequences: false) {
        switch word {
        case "front": camera.position = .front
        case "back": camera.position = .back
        case "mirror": camera.mirrors = true
        default:
          guard let degrees = Int(word), [0, 90, 180, 270].contains(degrees) else { throw error }
          camera.sensorOrientation = degrees
        }
      }
      self = .sensor(camera)
    }
  }
}

extension RGBColour {
  /// Parses `RRGGBB`.
  ///
  /// - Throws: `usage` for anything else.
  package init(parsing text: String) throws(UprightError) {
    guard let colour = RGBColour(hex: text) else {
      throw UprightError(
        .usage, "\(text) is not a colour", at: "--background", remedy: "write it as RRGGBB")
    }
    self = colour
  }
}

extension PixelSize {
  /// Parses the size of an encoded stream, `WxH`.
  ///
  /// - Throws: `usage` for anything else, and for a size that can't be encoded.
  package init(encoding text: String, at location: String = "--size") throws(UprightError) {
    do throws(PolicyError) { self = try StreamSize.parse(text, at: location) } catch {
      throw UprightError(error, code: .usage)
    }
  }
}

extension PolicyDocument {
  /// Reads a policy from memory: the name of a built-in one, or a JSON document.
  ///
  /// - Throws: `badData` if the document is malformed, `usage` for a name that doesn't exist.
  package init(nameOrJSON text: String) throws(UprightError) {
    if let document = PolicyDocument.builtIn(text) {
      self = document
      return
    }
    guard text.utf8.contains(UInt8(ascii: "{")) else {
      throw UprightError(
        .usage, "there is no such policy", at: "policy",
        remedy: "give a JSON document, or one of "
          + PolicyDocument.builtInNames.joined(separator: ", "))
    }
    do throws(PolicyError) { try self.init(json: text.utf8) } catch {
      throw UprightError(error, code: .badData)
    }
  }
}

extension StreamEvent {
  /// Reads events, one JSON object per line. One without `at` takes effect at the next frame.
  ///
  /// - Throws: `badData`, with the line, for the first one that can't be read.
  package static func parse(jsonLines text: String) throws(UprightError) -> [StreamEvent] {
    var events: [StreamEvent] = []
    var number = 0
    for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      do throws(PolicyError) {
        guard let event = try Self.parse(line, number: number) else { continue }
        events.append(event)
      } catch {
        throw UprightError(error, code: .badData)
      }
    }
    return events
  }

  private static func parse(
    _ line: some Collection<UInt8>, number: Int
  ) throws(PolicyError) -> StreamEvent? {
    do throws(PolicyError) {
      return try RotationEvent.parse(line: line, number: number).map(StreamEvent.init)
    } catch  where error.code == .missing {
      // Without a time, or without an action: that is an error below too.
      guard case .object(let members) = try JSONValue(parsing: line),
        !members.contains(where: { $0.key == "at" })
      else { throw error }
      let timed = JSONValue.object([.init("at", .number(0))] + members)
      do throws(PolicyError) { return .now(try RotationEvent(timed).action) } catch {
        var error = error
        error.path = "line \(number), \(error.path)"
        throw error
      }
    }
  }
}
