internal import CFFmpeg
internal import CFFmpegShims
internal import Orientation

/// Rescales and converts pictures with libswscale. Keeps its context from frame to frame, since
/// making one costs as much as a picture.
public final class Scaler {
  /// libswscale's filters.
  public enum Filter: String, Sendable, CaseIterable {
    case bilinear, bicubic, lanczos, area, point

    var flags: CInt {
      switch self {
      case .bilinear: SWS_BILINEAR
      case .bicubic: SWS_BICUBIC
      case .lanczos: SWS_LANCZOS
      case .area: SWS_AREA
      case .point: SWS_POINT
      }
    }
  }

  /// All that a context is made for.
  private struct Key: Hashable {
    let source: PixelSize
    let target: PixelSize
    let from: PixelFormat
    let to: PixelFormat
    let colour: Colour
    let chroma: ChromaMove
    let filter: Filter
  }

  private var key: Key?
  private var context: OpaquePointer?
  private let threads: Int

  package init(threads: Int = 1) { self.threads = threads }

  deinit { sws_freeContext(context) }

  /// Where chroma sits in the source and where it is to sit in the target.
  package struct ChromaMove: Sendable, Hashable {
    package var from: ChromaPosition
    package var to: ChromaPosition

    package init(from: ChromaPosition, to: ChromaPosition) {
      self.from = from
      self.to = to
    }
  }

  /// Scales the whole of `source` onto `target`, whose memory is written in full. Colour values are
  /// kept, limited to the target's format: size, format and chroma siting change.
  package func scale(
    _ source: PictureView, onto target: PictureView, colour: Colour, chroma: ChromaMove,
    filter: Filter
  ) throws(MediaError) {
    let wanted = Key(
      source: source.size, target: target.size, from: source.format, to: target.format,
      colour: colour, chroma: chroma, filter: filter)
    if wanted != key {
      sws_freeContext(context)
      context = nil
      key = nil
      context = try makeContext(wanted)
      key = wanted
    }
    let rows = source.withPointers { from, fromStrides in
      target.withPointers { to, toStrides in
        let readOnly = UnsafeRawPointer(from).assumingMemoryBound(
          to: UnsafePointer<UInt8>?.self)
        return sws_scale(
          context, readOnly, fromStrides, 0, CInt(source.size.height), to, toStrides)
      }
    }
    if rows < 0 { throw MediaError(.fault, "scaling failed: \(describe(rows))") }
  }

  private func makeContext(_ key: Key) throws(MediaError) -> OpaquePointer {
    guard let context = sws_alloc_context() else { throw outOfMemory("scaler") }
    func set(_ name: String, _ value: Int) {
      av_opt_set_int(UnsafeMutableRawPointer(context), name, Int64(value), 0)
    }
    set("srcw", key.source.width)
    set("srch", key.source.height)
    set("dstw", key.target.width)
    set("dsth", key.target.height)
    set("src_format", Int(key.from.raw.rawValue))
    set("dst_format", Int(key.to.raw.rawValue))
    // Without these, colours come out visibly wrong at edges and in the lowest bit.
    set("sws_flags", Int(key.filter.flags | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT))
    set("threads", threads)
    if !key.from.isRGB && !key.to.isRGB {
      setChroma(context, key)
    }
    guard sws_init_context(context, nil, nil) >= 0 else {
      sws_freeContext(context)
      throw MediaError(
        .unavailable, "libswscale cannot turn \(key.from) into \(key.to)",
        remedy: "convert the clip to yuv420p first")
    }
    setColour(context, key)
    return context
  }

  /// Positions only mean something along an axis that is subsampled.
  private func setChroma(_ context: OpaquePointer, _ key: Key) {
    let unset = -513
    func position(_ value: Int, _ shift: Int) -> CInt { CInt(shift == 1 ? value : unset) }
    upright_sws_set_chroma(
      context,
      position(key.chroma.from.x, key.from.chromaShift.x),
      position(key.chroma.from.y, key.from.chromaShift.y),
      position(key.chroma.to.x, key.to.chromaShift.x),
      position(key.chroma.to.y, key.to.chromaShift.y))
  }

  /// Same matrix and range on both sides, so that only conversions to and from RGB look at them.
  private func setColour(_ context: OpaquePointer, _ key: Key) {
    let matrix =
      key.colour.matrix == AVCOL_SPC_UNSPECIFIED || key.colour.matrix == AVCOL_SPC_RGB
      ? SWS_CS_DEFAULT : CInt(bitPattern: key.colour.matrix.rawValue)
    let coefficients = sws_getCoefficients(matrix)
    let sourceRange: CInt = key.from.isRGB || key.colour.isFullRange ? 1 : 0
    let targetRange: CInt = key.to.isRGB || key.colour.isFullRange ? 1 : 0
    sws_setColorspaceDetails(
      context, coefficients, sourceRange, coefficients, targetRange, 0, 1 << 16, 1 << 16)
  }
}
