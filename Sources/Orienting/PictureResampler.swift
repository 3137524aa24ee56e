internal import Orientation
internal import PixelKernels
internal import UprightMediaIO

/// Turns and rescales pictures plane by plane in one pass, where source and target hold the same
/// planes. Keeps what it has made for one geometry from picture to picture.
final class PictureResampler {
  /// All that a pass is made for.
  private struct Key: Equatable {
    let source: PixelSize
    let target: PixelSize
    let from: PixelFormat
    let to: PixelFormat
    let turn: ImageOrientation
    let stored: ChromaPosition
    let siting: ChromaPosition
    let filter: Scaler.Filter
  }

  private let precision: Resampler.Precision
  private var key: Key?
  /// One for each plane; empty where there is no such pass.
  private var planes: [Resampler] = []

  init(precision: Resampler.Precision) { self.precision = precision }

  /// Draws the whole of `source` onto `target`, turned.
  ///
  /// - Parameters:
  ///   - stored: where chroma sits in the source.
  ///   - siting: where it is to sit in the target.
  /// - Returns: false where it cannot be done this way: other planes, depths beyond 12 bits, a filter
  ///   of libswscale's own, a picture that shrinks beyond measure. Nothing is written then.
  func draw(
    _ source: PictureView, onto target: PictureView, turn: ImageOrientation,
    stored: ChromaPosition, siting: ChromaPosition, filter: Scaler.Filter
  ) throws(MediaError) -> Bool {
    let wanted = Key(
      source: source.size, target: target.size, from: source.format, to: target.format, turn: turn,
      stored: stored, siting: siting, filter: filter)
    if wanted != key {
      planes = passes(wanted) ?? []
      key = wanted
    }
    if planes.isEmpty { return false }
    let (from, to) = (source.picturePlanes, target.picturePlanes)
    for (index, pass) in planes.enumerated() {
      try runKernel { () throws(PixelKernelsError) in
        try pass.resample(from[index].readable, into: to[index].plane)
      }
    }
    return true
  }

  private func passes(_ key: Key) -> [Resampler]? {
    guard let filter = ResampleFilter(key.filter), key.from.hasPlainSamples,
      (key.turn.swapsAxes ? key.from.transposed : key.from) == key.to,
      let from = key.from.planes, let to = key.to.planes, from.count == to.count
    else { return nil }
    var made: [Int: Resampler] = [:]
    return try? from.indices.map { index in
      // Planes that are alike share one.
      if let same = from.indices.first(where: { from[$0] == from[index] && to[$0] == to[index] }),
        let twin = made[same]
      {
        return twin
      }
      let pass = try Resampler(
        source: Self.grids(key.source, key.from, from[index], key.stored),
        destination: Self.grids(key.target, key.to, to[index], key.siting),
        orientation: key.turn, filter: filter,
        components: from[index].elementSize / key.from.sampleBytes,
        componentSize: key.from.sampleBytes, bitDepth: key.from.bitDepth,
        precision: precision)
      made[index] = pass
      return pass
    }
  }

  /// Where the samples of a plane lie in a picture of `size`.
  private static func grids(
    _ size: PixelSize, _ format: PixelFormat, _ plane: PixelFormat.Plane, _ siting: ChromaPosition
  ) -> (x: SampleGrid, y: SampleGrid) {
    let place = format.transform(of: plane, siting: siting)
    return (
      SampleGrid(
        -(-size.width >> plane.shiftX), length: Double(size.width) / place.a,
        shift: place.tx / place.a),
      SampleGrid(
        -(-size.height >> plane.shiftY), length: Double(size.height) / place.d,
        shift: place.ty / place.d)
    )
  }
}

extension ResampleFilter {
  /// The same kernel; nil for one that libswscale alone has.
  fileprivate init?(_ filter: Scaler.Filter) {
    switch filter {
    case .bicubic: self = .bicubic
    case .bilinear: self = .bilinear
    case .area: self = .area
    case .lanczos: self = .lanczos
    case .point: return nil
    }
  }
}
