internal import Orientation
internal import PixelKernels
internal import UprightMediaIO

/// Turns and scales frames plane by plane in one pass, if source and target have the same planes. Keeps the
/// prepared passes of one geometry between frames.
final class FrameResampler {
  /// Everything that a prepared pass depends on.
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
  /// One pass for each plane; empty if the frames can't be resampled this way.
  private var planes: [Resampler] = []

  init(precision: Resampler.Precision) { self.precision = precision }

  /// Draws all of `source` onto `target`, turned.
  ///
  /// - Parameters:
  ///   - stored: The chroma siting of the source.
  ///   - siting: The chroma siting of the target.
  /// - Returns: `false` if this isn't possible, and nothing is written then: the planes differ, the depth is
  ///   above 12 bits, only libswscale has the filter, or the frame shrinks too much.
  func draw(
    _ source: FrameView, onto target: FrameView, turn: ImageOrientation,
    stored: ChromaPosition, siting: ChromaPosition, filter: Scaler.Filter
  ) throws(UprightError) -> Bool {
    let wanted = Key(
      source: source.size, target: target.size, from: source.format, to: target.format, turn: turn,
      stored: stored, siting: siting, filter: filter)
    if wanted != key {
      planes = passes(wanted) ?? []
      key = wanted
    }
    if planes.isEmpty { return false }
    let (from, to) = (source.framePlanes, target.framePlanes)
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
      // Planes with the same layout share a resampler.
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

  /// Returns the sample positions of a plane in a frame of `size`.
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
  /// The equivalent of a libswscale filter; `nil` if only libswscale has it.
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
