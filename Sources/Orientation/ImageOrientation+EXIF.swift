extension ImageOrientation {
  /// Creates an orientation from EXIF's and TIFF's tag 274 (`Orientation`), 1...8. Returns `nil`
  /// for any other number, which readers treat as absent.
  public init?(exif: Int) { self.init(rawValue: exif) }

  /// The value of EXIF's tag 274, 1...8.
  public var exif: Int { rawValue }
}

/// The two HEIF item properties of an image's orientation (ISO/IEC 23008-12, 6.5.10 `irot` and
/// 6.5.12 `imir`). MIAF applies the rotation first and the mirroring after it.
public struct HEIFOrientation: Sendable, Hashable {
  /// `irot`: quarter turns anticlockwise, 0...3; `nil` if the property is absent.
  public var irot: Int?
  /// `imir`: 0 exchanges top and bottom, 1 exchanges left and right; `nil` if it is absent.
  public var imir: Int?

  /// Creates the properties with these values, without validation.
  public init(irot: Int? = nil, imir: Int? = nil) {
    self.irot = irot
    self.imir = imir
  }

  /// Creates the shortest properties for `orientation`. All eight orientations can be represented.
  public init(_ orientation: ImageOrientation) {
    switch orientation {
    case .up: self.init()
    case .upMirrored: self.init(imir: 1)
    case .down: self.init(irot: 2)
    case .downMirrored: self.init(imir: 0)
    case .leftMirrored: self.init(irot: 1, imir: 0)
    case .right: self.init(irot: 3)
    case .rightMirrored: self.init(irot: 3, imir: 0)
    case .left: self.init(irot: 1)
    }
  }

  /// The orientation of the properties, or `nil` if a value is out of range.
  public var orientation: ImageOrientation? {
    guard (0...3).contains(irot ?? 0) else { return nil }
    let turn = ImageOrientation(flippedHorizontally: false, quarterTurns: -(irot ?? 0))
    switch imir {
    case nil: return turn
    case 0: return turn.then(.downMirrored)
    case 1: return turn.then(.upMirrored)
    default: return nil
    }
  }
}
