public import UprightOrientation

/// A change of the stream format: an entry of `formats` in a report and a trace.
public struct FormatChange: Sendable, Hashable, Codable {
  /// The time of the change on the media timeline, in seconds.
  public var from: Double
  /// The format from `from` on.
  public var format: StreamFormat
  /// The index of the first frame in the new format, in the output. `nil` without media.
  public var firstFrame: Int?
  /// How the frames are turned. `nil` without media.
  public var turn: ImageOrientation?
  /// Maps a position in the source's frame to the encoded frame, in pixels. `nil` without media.
  public var transform: AffineMatrix?

  /// Creates a change of format.
  public init(
    from: Double, format: StreamFormat, firstFrame: Int? = nil, turn: ImageOrientation? = nil,
    transform: AffineMatrix? = nil
  ) {
    self.from = from
    self.format = format
    self.firstFrame = firstFrame
    self.turn = turn
    self.transform = transform
  }

  /// The entry of `formats`, with the keys in their documented order. Properties that are `nil` are omitted.
  public var json: JSONValue {
    var members: [JSONValue.Member] = [.init("from", .number(from))]
    if let firstFrame { members.append(.init("first_frame", .integer(firstFrame))) }
    members += [
      .init("appOrientation", .string(format.appOrientation.name)),
      .init("captureResolution", .string(format.captureResolution.description)),
      .init("encodeResolution", .string(format.encodeResolution.description)),
    ]
    if let turn { members.append(.init("turn", .string(turn.name))) }
    if let matrix = transform {
      let numbers = [matrix.a, matrix.b, matrix.c, matrix.d, matrix.tx, matrix.ty]
      members.append(.init("transform", .array(numbers.map { .number($0) })))
    }
    return .object(members)
  }
}
