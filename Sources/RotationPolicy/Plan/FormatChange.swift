internal import Orientation

/// From when on the stream has which format: an entry of `formats` in a report and a trace.
public struct FormatChange: Sendable, Hashable {
  /// Seconds on the media timeline.
  public var from: Double
  /// The format from then on.
  public var format: StreamFormat

  /// A change of format.
  public init(from: Double, format: StreamFormat) {
    self.from = from
    self.format = format
  }

  /// The entry with the keys in the order of spec 4. What only a run over media knows is left out
  /// where it is nil.
  public func json(
    firstFrame: Int? = nil, turn: String? = nil, transform: [Double]? = nil
  ) -> JSONValue {
    var members: [JSONValue.Member] = [.init("from", .number(from))]
    if let firstFrame { members.append(.init("first_frame", .integer(firstFrame))) }
    members += [
      .init("appOrientation", .string(format.appOrientation.name)),
      .init("captureResolution", .string(format.captureResolution.description)),
      .init("encodeResolution", .string(format.encodeResolution.description)),
    ]
    if let turn { members.append(.init("turn", .string(turn))) }
    if let transform {
      members.append(.init("transform", .array(transform.map { .number($0) })))
    }
    return .object(members)
  }
}
