internal import UprightOrientation
internal import UprightMediaIO

/// A still picture decoded from a file: a slate or an overlay.
package final class StillImage {
  /// The decoded picture: upright, RGBA with straight alpha.
  let picture: VideoFrame

  /// The largest accepted picture, in samples.
  static let maximumPixels = 8192 * 8192

  var size: PixelSize { picture.size }

  /// Decodes the first picture of the file at `path`.
  ///
  /// - Throws: `noInput` if the file doesn't exist, `badData` if it holds no picture, `usage` if `path` is
  ///   standard input.
  init(path: String) throws(UprightError) {
    if path == "-" {
      throw UprightError(
        .usage, "a still picture can't be read from standard input", at: path,
        remedy: "give a PNG or JPEG file")
    }
    let demuxer = try Demuxer(url: path)
    guard let stream = demuxer.bestStream(.video) else { throw Self.noPicture(path) }
    demuxer.select([stream.index])
    let decoder = try VideoDecoder(
      stream: stream, threads: 1, maximumPixels: Self.maximumPixels)
    guard let frame = try Self.first(demuxer, stream.index, decoder) else {
      throw Self.noPicture(path)
    }
    let turn = (frame.displayMatrix ?? stream.displayMatrix)?.turn?.nearest ?? .up
    let shape = frame.sampleAspectRatio
    let size = Placement.displaySize(of: frame.size, sampleAspectRatio: shape, orientation: turn)
    let orienter = FrameOrienter(format: .rgba, layout: .init(fit: .stretch))
    picture = try orienter.orient(
      frame,
      by: orienter.placement(of: frame.size, sampleAspectRatio: shape, turn: turn, canvas: size))
    bleedColour()
  }

  private static func first(
    _ demuxer: Demuxer, _ stream: Int, _ decoder: VideoDecoder
  ) throws(UprightError) -> VideoFrame? {
    while let packet = try demuxer.read() {
      guard packet.streamIndex == stream else { continue }
      _ = decoder.send(packet)
      if let frame = try decoder.receive() { return frame }
    }
    decoder.finish()
    return try decoder.receive()
  }

  private static func noPicture(_ path: String) -> UprightError {
    UprightError(
      .badData, "no picture can be decoded", at: path, remedy: "give a PNG or JPEG file")
  }

  /// Gives fully transparent pixels the colour of the visible pixels in the same block: chroma subsampling
  /// and scaling average over edges, where the colour of transparent pixels must not show.
  private func bleedColour() {
    guard let memory = picture.plane(0) else { return }
    let (width, height) = (size.width, size.height)
    let block = 16
    for top in stride(from: 0, to: height, by: block) {
      for left in stride(from: 0, to: width, by: block) {
        var sums = (red: 0, green: 0, blue: 0, alpha: 0)
        var hasHoles = false
        for y in top..<min(top + block, height) {
          for x in left..<min(left + block, width) {
            let pixel = unsafe memory.start + y * memory.stride + 4 * x
            let alpha = unsafe Int(pixel[3])
            hasHoles = hasHoles || alpha == 0
            unsafe (sums.red += Int(pixel[0]) * alpha)
            unsafe (sums.green += Int(pixel[1]) * alpha)
            unsafe (sums.blue += Int(pixel[2]) * alpha)
            sums.alpha += alpha
          }
        }
        guard hasHoles, sums.alpha > 0 else { continue }
        for y in top..<min(top + block, height) {
          for x in left..<min(left + block, width) {
            let pixel = unsafe memory.start + y * memory.stride + 4 * x
            guard unsafe pixel[3] == 0 else { continue }
            unsafe (pixel[0] = UInt8(sums.red / sums.alpha))
            unsafe (pixel[1] = UInt8(sums.green / sums.alpha))
            unsafe (pixel[2] = UInt8(sums.blue / sums.alpha))
          }
        }
      }
    }
  }
}

extension Placement {
  /// Returns the size of a picture as it is displayed, in square pixels.
  static func displaySize(
    of size: PixelSize, sampleAspectRatio: Rational, orientation: ImageOrientation
  ) -> PixelSize {
    let width = (Double(size.width) * sampleAspectRatio.asSampleAspectRatio.doubleValue).rounded()
    return orientation.applied(
      to: PixelSize(max(1, Int(min(width, 65536))), size.height))
  }
}
