public import UprightOrientation

/// The capture size and the encoded size of a stream.
///
/// The order of width and height doesn't matter. The sizes are tall when the app is in portrait, and wide
/// when it is in landscape.
public struct StreamGuidance: Sendable, Hashable {
  /// The encoded size.
  public var encodeSize: PixelSize
  /// The size that the app is told to capture.
  public var captureSize: PixelSize

  /// Creates guidance. If `captureSize` is `nil`, it is the same as `encodeSize`.
  public init(encodeSize: PixelSize, captureSize: PixelSize? = nil) {
    self.encodeSize = encodeSize
    self.captureSize = captureSize ?? encodeSize
  }

  /// 720x1280, the default of streaming outputs.
  public static let standard = StreamGuidance(encodeSize: PixelSize(720, 1280))

  /// Returns this guidance with no side longer than those of a source. The capture size is the encoded size.
  package func limited(to source: PixelSize) -> StreamGuidance {
    let (size, most) = (source.laidOut(wide: true), encodeSize.laidOut(wide: true))
    let least = PixelSize(min(size.width, most.width), min(size.height, most.height))
    return StreamGuidance(encodeSize: least.laidOut(wide: source.width > source.height))
  }

  /// Returns the format while the app is in `orientation`: tall in portrait and upside down, wide in both
  /// landscape orientations.
  public func format(for orientation: InterfaceOrientation) -> StreamFormat {
    StreamFormat(
      appOrientation: orientation,
      captureResolution: captureSize.laidOut(wide: orientation.isLandscape),
      encodeResolution: encodeSize.laidOut(wide: orientation.isLandscape))
  }

  /// Checks the sizes. `path` is the location of the capture size, for the error message.
  ///
  /// - Throws: `size` if the encoded size is larger than the capture size.
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

/// The capture size and the encoded size in one app orientation.
public struct StreamFormat: Sendable, Hashable, Codable {
  /// The app orientation.
  public var appOrientation: InterfaceOrientation
  /// The capture size, upright in the app orientation.
  public var captureResolution: PixelSize
  /// The encoded size.
  public var encodeResolution: PixelSize

  /// Creates a format.
  package init(
    appOrientation: InterfaceOrientation, captureResolution: PixelSize, encodeResolution: PixelSize
  ) {
    self.appOrientation = appOrientation
    self.captureResolution = captureResolution
    self.encodeResolution = encodeResolution
  }
}

extension PixelSize {
  /// Returns the size with the longer side as its width, or as its height.
  package func laidOut(wide: Bool) -> PixelSize {
    PixelSize(
      wide ? max(width, height) : min(width, height),
      wide ? min(width, height) : max(width, height))
  }
}
