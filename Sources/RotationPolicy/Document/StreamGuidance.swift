public import Orientation

/// The two sizes a stream is made with; spec 3, "Stream format: the streaming guidance".
///
/// The order of width and height does not matter: an app in portrait gets them tall, in landscape
/// wide.
public struct StreamGuidance: Sendable, Hashable {
  /// What is encoded.
  public var encodeSize: PixelSize
  /// What the app is told to capture.
  public var captureSize: PixelSize

  /// Guidance with both sizes; `captureSize` nil: the same as `encodeSize`.
  public init(encodeSize: PixelSize, captureSize: PixelSize? = nil) {
    self.encodeSize = encodeSize
    self.captureSize = captureSize ?? encodeSize
  }

  /// 720x1280, the default of streaming outputs.
  public static let standard = StreamGuidance(encodeSize: PixelSize(720, 1280))

  /// The format while the app is in `orientation`: tall in portrait and upside down, wide in the
  /// landscapes.
  public func format(for orientation: InterfaceOrientation) -> StreamFormat {
    StreamFormat(
      appOrientation: orientation,
      captureResolution: captureSize.laidOut(wide: orientation.isLandscape),
      encodeResolution: encodeSize.laidOut(wide: orientation.isLandscape))
  }

  /// Throws where more would be encoded than is captured; `path` is where the capture size stands, for
  /// the message.
  public func check(at path: String = "captureSize") throws(PolicyError) {
    let encode = encodeSize.laidOut(wide: true)
    let capture = captureSize.laidOut(wide: true)
    guard encode.width <= capture.width, encode.height <= capture.height else {
      throw PolicyError(
        .size, "the encode size \(encodeSize) is larger than the capture size \(captureSize)",
        at: path, remedy: "make the capture size at least \(encodeSize)")
    }
  }
}

/// What the app captures and the stream carries while the app is in one orientation.
public struct StreamFormat: Sendable, Hashable {
  /// The app's orientation.
  public var appOrientation: InterfaceOrientation
  /// The size that is captured, as it stands upright in the app.
  public var captureResolution: PixelSize
  /// The size that is encoded.
  public var encodeResolution: PixelSize

  /// A format.
  public init(
    appOrientation: InterfaceOrientation, captureResolution: PixelSize, encodeResolution: PixelSize
  ) {
    self.appOrientation = appOrientation
    self.captureResolution = captureResolution
    self.encodeResolution = encodeResolution
  }
}

extension PixelSize {
  fileprivate func laidOut(wide: Bool) -> PixelSize {
    PixelSize(
      wide ? max(width, height) : min(width, height),
      wide ? min(width, height) : max(width, height))
  }
}
