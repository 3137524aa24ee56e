internal import UprightMedia
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightPolicy
internal import UprightSignals

extension Probe {
  /// The readings in one metadata track.
  public struct Telemetry: Sendable, Hashable, CustomStringConvertible {
    /// The readings of one sensor.
    public struct Readings: Sendable, Hashable {
      /// What was read: `gravity`, `acceleration` (m/s²), `rotationRate` (radians a second), `angleAxis` (radians),
      /// or `cameraOrientation` or `imageOrientation` (quaternions).
      public let kind: String
      /// The number of readings, at least 1.
      public fileprivate(set) var count: Int
      /// The first reading, with its values in the order in which they are stored.
      public let first: [Double]
    }

    /// The index of the stream in the input.
    public let stream: Int
    /// The four characters of its format: `gpmd` or `camm`.
    public let format: String
    /// The sensors, in the order in which their first readings are stored.
    public fileprivate(set) var readings: [Readings] = []

    fileprivate mutating func add(_ reading: TelemetryReading) {
      let kind = reading.kind.rawValue
      if let index = readings.firstIndex(where: { $0.kind == kind }) {
        readings[index].count += 1
      } else {
        readings.append(Readings(kind: kind, count: 1, first: reading.values))
      }
    }

    /// The readings as a line of text.
    public var description: String {
      let texts = readings.map { sensor in
        let values = sensor.first.map { "\($0.rounded(toPlaces: 3))" }.joined(separator: " ")
        return "\(sensor.count) of \(sensor.kind), first (\(values))"
      }
      return "telemetry in stream \(stream), \(format): "
        + (texts.isEmpty ? "no motion" : texts.joined(separator: "; "))
    }

    var json: JSONValue {
      let sensors = readings.map { sensor -> JSONValue in
        [
          "kind": .string(sensor.kind), "count": .integer(sensor.count),
          "first": .array(sensor.first.map { .number($0) }),
        ]
      }
      return [
        "stream": .integer(stream), "format": .string(format), "readings": .array(sensors),
      ]
    }
  }

  /// The most samples of a track that are read. GPMF has one a second, CAMM one for each reading.
  private static let mostSamples = 1 << 22

  /// Reads the metadata tracks of an input that can be opened again.
  static func telemetry(of source: any PacketSource) throws(UprightError) -> [Telemetry] {
    guard let demuxer = source as? Demuxer else { return [] }
    var found: [Telemetry] = []
    for stream in demuxer.telemetryTracks {
      var telemetry = Telemetry(stream: stream.index, format: stream.codecTag)
      var samples = 0
      try demuxer.readTelemetry(of: stream) { streams, _, _ in
        samples += 1
        for case let reading? in streams.flatMap(\.readings) { telemetry.add(reading) }
        return samples < mostSamples
      }
      found.append(telemetry)
    }
    return found
  }
}
