package import UprightOrientation

/// What a still image says of its orientation, and that of the video in its file.
package struct ImageInspection: Sendable, Hashable {
  /// How the video of a motion photo stands to its image.
  package enum Motion: Sendable, Hashable {
    /// There is no video.
    case none
    /// Both are shown the same way up, as far as that can be known without looking at them.
    case agrees
    /// They are shown differently: a landscape beside a portrait, or two stored alike and turned differently.
    case disagrees
  }

  /// The orientation that makes the image upright; `nil` if it has none.
  package let orientation: ImageOrientation?
  /// The size of the stored image; 0x0 if unknown.
  package let size: PixelSize
  package let motion: Motion
  /// Whether the file says where it was taken.
  package let hasLocation: Bool

  /// Inspects the image in `file`.
  ///
  /// - Throws: `badData` if it is damaged where the orientation is stored; what reading throws.
  package init(_ file: any ByteFile, _ format: PatchedFormat) throws(UprightError) {
    var video: Range<Int>?
    switch format {
    case .jpeg:
      let image = try JPEGTag(file)
      (orientation, size) = (image.orientation, image.size)
      (video, hasLocation) = (try image.video(of: file), image.hasLocation)
    case .heif:
      let image = try HEIFTag(file)
      (orientation, size) = (image.old, image.size)
      (video, hasLocation) = (try image.attachedVideo(), false)
    case .png:
      let image = try PNGTag(file)
      (orientation, size, hasLocation) = (image.orientation, PixelSize(0, 0), image.hasLocation)
    case .webp:
      let image = try WebPTag(file)
      (orientation, size) = (try image.orientation(), PixelSize(0, 0))
      hasLocation = try image.hasLocation()
    case .movie, .matroska, .webm:
      (orientation, size, hasLocation) = (nil, PixelSize(0, 0), false)
    }
    guard let video else {
      motion = .none
      return
    }
    motion = try Self.motion(FilePart(file: file, range: video), orientation ?? .up, size)
  }

  private static func motion(
    _ file: any ByteFile, _ still: ImageOrientation, _ size: PixelSize
  ) throws(UprightError) -> Motion {
    let movie = try MovieTag(file, .up)
    guard let turn = movie.orientationBefore, size.hasArea, movie.size.hasArea else {
      return .agrees
    }
    if movie.size.isLandscape == size.isLandscape { return turn == still ? .agrees : .disagrees }
    let (shown, shownStill) = (turn.applied(to: movie.size), still.applied(to: size))
    return shown.isLandscape == shownStill.isLandscape ? .agrees : .disagrees
  }
}
