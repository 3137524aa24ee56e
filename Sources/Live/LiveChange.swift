public import UprightOrientation
public import UprightKernels
public import UprightPolicy
public import UprightMediaIO
public import UprightMedia

/// A change of a running live session. `nil` leaves a setting as it is.
public struct LiveChange: Sendable {
  /// The rotation policy. The device orientation, the app orientation, the rotation lock, whether the app is
  /// active and the hold of a manual rotation continue. If the new rules demand another orientation, the app
  /// rotates. Stream sizes can't change; without any, the session keeps its own.
  public var policy: PolicyDocument?
  /// How a frame is fitted into a canvas of another shape; `.some(nil)` for the default.
  public var fit: Fit??
  /// The same on the portrait canvas of `dual`; `.some(nil)` for `fit`.
  public var portraitFit: Fit??
  /// The same on the landscape canvas of `dual`; `.some(nil)` for `fit`.
  public var landscapeFit: Fit??
  /// The colour beside a frame that does not fill the canvas.
  public var background: RGBColour?
  /// The path of the slate; `.some(nil)` for none.
  public var slate: String??
  /// The overlays, the lowest first. They replace all overlays.
  public var overlays: [Overlay]?
  /// The rate control. Between two bit rates, an H.264 encoder changes without a keyframe. All others are
  /// replaced at a keyframe, in the same format.
  public var rate: VideoEncoder.RateControl?

  /// Creates a change of nothing.
  public init() {}

  /// Returns `options` with this change.
  public func applied(to options: TranscodeOptions) -> TranscodeOptions {
    var options = options
    if let fit { options.fit = fit }
    if let portraitFit { options.portraitFit = portraitFit }
    if let landscapeFit { options.landscapeFit = landscapeFit }
    if let background { options.background = background }
    if let slate { options.slate = slate }
    if let overlays { options.overlays = overlays }
    if let rate { options.rate = rate }
    return options
  }

  /// The options of the still pictures that change, and no others.
  var stillOptions: TranscodeOptions {
    var options = TranscodeOptions()
    options.slate = slate ?? nil
    options.overlays = overlays ?? []
    return options
  }
}

/// A change that a live session has applied.
public struct AppliedChange: Sendable, Hashable, Codable {
  /// The media time of the first frame with the change, in seconds; `nil` if it was applied before the first
  /// frame.
  public var at: Double?
  /// The decisions that the change caused at that frame. They are also sent as `LiveUpdate.decision`. A rotation
  /// in progress ends first: the decision then follows as an update.
  public var decisions: [RotationDecision]

  /// Creates a result.
  public init(at: Double?, decisions: [RotationDecision]) {
    self.at = at
    self.decisions = decisions
  }
}

extension LiveChange: Codable {
  private enum CodingKeys: String, CodingKey {
    case policy, fit, portraitFit, landscapeFit, background, slate, overlays, rate
  }

  /// Writes what changes. `null` stands for a default. Throws what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(policy, forKey: .policy)
    if let fit { try container.encode(fit, forKey: .fit) }
    if let portraitFit { try container.encode(portraitFit, forKey: .portraitFit) }
    if let landscapeFit { try container.encode(landscapeFit, forKey: .landscapeFit) }
    try container.encodeIfPresent(background, forKey: .background)
    if let slate { try container.encode(slate, forKey: .slate) }
    try container.encodeIfPresent(overlays, forKey: .overlays)
    try container.encodeIfPresent(rate, forKey: .rate)
  }

  /// Reads what `encode(to:)` has written. Throws a `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func setting<Value: Decodable>(_ key: CodingKeys) throws -> Value?? {
      container.contains(key)
        ? .some(try container.decodeIfPresent(Value.self, forKey: key)) : nil
    }
    policy = try container.decodeIfPresent(PolicyDocument.self, forKey: .policy)
    fit = try setting(.fit)
    portraitFit = try setting(.portraitFit)
    landscapeFit = try setting(.landscapeFit)
    background = try container.decodeIfPresent(RGBColour.self, forKey: .background)
    slate = try setting(.slate)
    overlays = try container.decodeIfPresent([Overlay].self, forKey: .overlays)
    rate = try container.decodeIfPresent(VideoEncoder.RateControl.self, forKey: .rate)
  }
}
