internal import CUprightFFmpeg
package import UprightOrientation
package import UprightKernels

/// The meaning of a frame's sample values: ISO/IEC 23091-2 code points, range and chroma siting.
package struct Colour: Sendable, Hashable {
  var range = AVCOL_RANGE_UNSPECIFIED
  var primaries = AVCOL_PRI_UNSPECIFIED
  var transfer = AVCOL_TRC_UNSPECIFIED
  var matrix = AVCOL_SPC_UNSPECIFIED
  var siting = AVCHROMA_LOC_UNSPECIFIED
  /// The HDR10 metadata besides the code points.
  package var hdr = HDRMetadata()

  package init() {}

  init(_ frame: UnsafePointer<AVFrame>) {
    range = frame.pointee.color_range
    primaries = frame.pointee.color_primaries
    transfer = frame.pointee.color_trc
    matrix = frame.pointee.colorspace
    siting = frame.pointee.chroma_location
    hdr = HDRMetadata(frame: frame)
    switch AVPixelFormat(frame.pointee.format) {
    case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P,
      AV_PIX_FMT_YUVJ411P:
      range = AVCOL_RANGE_JPEG
    default: break
    }
  }

  func write(to frame: UnsafeMutablePointer<AVFrame>) {
    frame.pointee.color_range = range
    frame.pointee.color_primaries = primaries
    frame.pointee.color_trc = transfer
    frame.pointee.colorspace = matrix
    frame.pointee.chroma_location = siting
    hdr.write(to: frame)
  }

  /// Whether luma uses 0...255 instead of 16...235.
  package var isFullRange: Bool { range == AVCOL_RANGE_JPEG }

  /// The code points of ISO/IEC 23091-2.
  package var codePoints: (primaries: Int, transfer: Int, matrix: Int) {
    (Int(primaries.rawValue), Int(transfer.rawValue), Int(matrix.rawValue))
  }

  /// The matrix and range of YUV samples. Those of BT.601 if the matrix is unspecified (as in libswscale).
  package var coding: ColourCoding {
    var coding: ColourCoding =
      switch matrix {
      case AVCOL_SPC_BT709: .bt709
      case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: .bt2020
      case AVCOL_SPC_SMPTE240M: ColourCoding(redWeight: 0.212, blueWeight: 0.087)
      case AVCOL_SPC_FCC: ColourCoding(redWeight: 0.30, blueWeight: 0.11)
      default: .bt601
      }
    coding.isFullRange = isFullRange
    return coding
  }
}

extension ChromaPosition {
  /// The position of a siting code. `nil` if the code gives none.
  init?(_ siting: AVChromaLocation) {
    switch siting {
    case AVCHROMA_LOC_LEFT: self.init(x: 0, y: 128)
    case AVCHROMA_LOC_CENTER: self.init(x: 128, y: 128)
    case AVCHROMA_LOC_TOPLEFT: self.init(x: 0, y: 0)
    case AVCHROMA_LOC_TOP: self.init(x: 128, y: 0)
    case AVCHROMA_LOC_BOTTOMLEFT: self.init(x: 0, y: 256)
    case AVCHROMA_LOC_BOTTOM: self.init(x: 128, y: 256)
    default: return nil
    }
  }

  /// The siting code of this position. `nil` if ISO/IEC 14496-10 E.2.1 has none (there is none on the right).
  var code: AVChromaLocation? {
    switch (x, y) {
    case (0, 128): AVCHROMA_LOC_LEFT
    case (128, 128): AVCHROMA_LOC_CENTER
    case (0, 0): AVCHROMA_LOC_TOPLEFT
    case (128, 0): AVCHROMA_LOC_TOP
    case (0, 256): AVCHROMA_LOC_BOTTOMLEFT
    case (128, 256): AVCHROMA_LOC_BOTTOM
    default: nil
    }
  }
}

extension Colour {
  /// Returns the colour of the frame after an exact rotation. Everything is kept, except that the siting is
  /// changed if the source has a siting and the standard has a code for the new position.
  package func turned(_ orientation: ImageOrientation) -> Colour {
    guard let position = ChromaPosition(siting) else { return self }
    var colour = self
    colour.siting = position.turned(orientation).code ?? siting
    return colour
  }

  /// The position of chroma: the tagged one, else the default of H.264 and HEVC.
  package var chromaPosition: ChromaPosition { ChromaPosition(siting) ?? .left }

  /// Returns this colour with the siting of `other`.
  package func sited(like other: Colour) -> Colour {
    var colour = self
    colour.siting = other.siting
    return colour
  }

  /// Whether the matrix of the samples is unknown, so that players guess it from the size.
  package var isUntagged: Bool { matrix == AVCOL_SPC_UNSPECIFIED }

  /// The colour that players assume for untagged frames of `size`: BT.601 in standard definition, with the
  /// primaries of 625 or 525 lines, else BT.709.
  package static func assumed(for size: PixelSize) -> Colour {
    var colour = Colour()
    let (long, short) = (max(size.width, size.height), min(size.width, size.height))
    (colour.primaries, colour.transfer, colour.matrix) =
      long >= 1280 || short > 576
      ? (AVCOL_PRI_BT709, AVCOL_TRC_BT709, AVCOL_SPC_BT709)
      : size.height == 576 || size.height == 288
        ? (AVCOL_PRI_BT470BG, AVCOL_TRC_SMPTE170M, AVCOL_SPC_BT470BG)
        : (AVCOL_PRI_SMPTE170M, AVCOL_TRC_SMPTE170M, AVCOL_SPC_SMPTE170M)
    return colour
  }

  /// Returns this colour with what it leaves unspecified as in `other`.
  package func completed(by other: Colour) -> Colour {
    var colour = self
    if matrix == AVCOL_SPC_UNSPECIFIED { colour.matrix = other.matrix }
    if primaries == AVCOL_PRI_UNSPECIFIED { colour.primaries = other.primaries }
    if transfer == AVCOL_TRC_UNSPECIFIED { colour.transfer = other.transfer }
    return colour
  }

  /// The colour of frames converted from RGB: BT.601, limited range, the rest unchanged.
  package var asYUV: Colour {
    var colour = self
    colour.matrix = AVCOL_SPC_SMPTE170M
    colour.range = AVCOL_RANGE_MPEG
    return colour
  }
}
