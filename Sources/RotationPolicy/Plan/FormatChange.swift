internal import Orientation

/// A change of the stream format: an entry of `formats` in a report and a trace.
public struct FormatChange: Sendable, Hashable {
  /// The time of the change on the media timeline, in seconds.
  public var from: Double
  /// The format from `from` on.
  public var format: StreamFormat

  /// Creates a change of format.
  public init(from: Double, format: StreamFormat) {
    self.from = from
    self.format = format
  }

  /// Returns the entry of `formats`, with the keys in their documented order. Parameters that are `nil` are
  /// omitted; they are known only in a run over media.
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
