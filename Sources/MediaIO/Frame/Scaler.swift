internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation
package import UprightKernels

/// Rescales and converts frames with libswscale. Keeps its context between frames, because creating one costs
/// as much as scaling a frame.
public final class Scaler {
  /// libswscale's filters.
  public enum Filter: String, Sendable, CaseIterable {
    /// Linear interpolation.
    case bilinear
    /// Cubic interpolation, the default.
    case bicubic
    /// Lanczos: the sharpest, with slight ringing at edges.
    case lanczos
    /// The mean of the covered area.
    case area
    /// The nearest sample.
    case point

    var flags: CInt {
      switch self {
      case .bilinear: upright_scaler_bilinear
      case .bicubic: upright_scaler_bicubic
      case .lanczos: upright_scaler_lanczos
      case .area: upright_scaler_area
      case .point: upright_scaler_point
      }
    }
  }

  /// The properties that a context is created for.
  private struct Key: Hashable {
    let source: PixelSize
    let target: PixelSize
    let from: PixelFormat
    let to: PixelFormat
    let colour: Colour
    let chroma: ChromaPositions
    let filter: Filter
  }

  private var key: Key?
  private var context: OpaquePointer?
  private let threads: Int
  private let isAccurate: Bool

  /// - Parameter isAccurate: Whether colours are exact at edges and in the lowest bit. If `false`, a conversion to
  ///   RGB takes a tenth of the time, as FFmpeg does it by default.
  package init(threads: Int = 1, isAccurate: Bool = true) {
    self.threads = threads
    self.isAccurate = isAccurate
  }

  deinit { upright_scaler_free(context) }

  /// The chroma positions of the source and the target.
  package struct ChromaPositions: Sendable, Hashable {
    package var from: ChromaPosition
    package var to: ChromaPosition

    package init(from: ChromaPosition, to: ChromaPosition) {
      self.from = from
      self.to = to
    }
  }

  /// Scales the whole of `source` to `target`, and writes all of the target's memory. Colour values are kept,
  /// limited to the target's format. The size, the format and the chroma siting change.
  package func scale(
    _ source: FrameView, onto target: FrameView, colour: Colour, chroma: ChromaPositions,
    filter: Filter
  ) throws(UprightError) {
    let wanted = Key(
      source: source.size, target: target.size, from: source.format, to: target.format,
      colour: colour, chroma: chroma, filter: filter)
    if wanted != key {
      upright_scaler_free(context)
      context = nil
      key = nil
      context = try makeContext(wanted)
      key = wanted
    }
    let rows = source.withPointers { from, fromStrides in
      target.withPointers { to, toStrides in
        let readOnly = UnsafeRawPointer(from).assumingMemoryBound(
          to: UnsafePointer<UInt8>?.self)
        return upright_scaler_scale(
          context, readOnly, fromStrides, CInt(source.size.height), to, toStrides)
      }
    }
    if rows < 0 { throw UprightError(.fault, "scaling failed: \(describe(rows))").reporting(rows) }
  }

  private func makeContext(_ key: Key) throws(UprightError) -> OpaquePointer {
    guard let context = upright_scaler_alloc() else { throw outOfMemory("scaler") }
    func set(_ name: String, _ value: Int) {
      upright_scaler_set(context, name, Int64(value))
    }
    set("srcw", key.source.width)
    set("srch", key.source.height)
    set("dstw", key.target.width)
    set("dsth", key.target.height)
    set("src_format", Int(key.from.raw.rawValue))
    set("dst_format", Int(key.to.raw.rawValue))
    // Without these flags colours are visibly wrong at edges and in the lowest bit.
    set("sws_flags", Int(key.filter.flags | (isAccurate ? upright_scaler_accurate : 0)))
    set("threads", threads)
    if !key.from.isRGB && !key.to.isRGB {
      setChroma(context, key)
    }
    let code = upright_scaler_init(context)
    guard code >= 0 else {
      upright_scaler_free(context)
      throw UprightError(
        .unavailable, "libswscale cannot convert \(key.from) to \(key.to)",
        remedy: "convert the input to yuv420p first"
      ).reporting(code)
    }
    setColour(context, key)
    return context
  }

  /// Sets the luma-relative chroma positions, in 1/256 luma sample. A position has a meaning only along a
  /// subsampled axis; -513 leaves libswscale's default.
  private func setChroma(_ context: OpaquePointer, _ key: Key) {
    func set(_ name: String, _ value: Int, _ shift: Int) {
      upright_scaler_set(context, name, Int64(shift == 1 ? value : -513))
    }
    set("src_h_chr_pos", key.chroma.from.x, key.from.chromaShift.x)
    set("src_v_chr_pos", key.chroma.from.y, key.from.chromaShift.y)
    set("dst_h_chr_pos", key.chroma.to.x, key.to.chromaShift.x)
    set("dst_v_chr_pos", key.chroma.to.y, key.to.chromaShift.y)
  }

  /// Sets the same matrix and range on both sides, so that they affect only conversions to and from RGB.
  private func setColour(_ context: OpaquePointer, _ key: Key) {
    let matrix =
      key.colour.matrix == AVCOL_SPC_UNSPECIFIED || key.colour.matrix == AVCOL_SPC_RGB
      ? SWS_CS_DEFAULT : CInt(bitPattern: key.colour.matrix.rawValue)
    let sourceRange: CInt = key.from.isRGB || key.colour.isFullRange ? 1 : 0
    let targetRange: CInt = key.to.isRGB || key.colour.isFullRange ? 1 : 0
    upright_scaler_set_colour(context, matrix, sourceRange, targetRange)
  }
}
