public import UprightOrientation
internal import UprightPolicy
internal import UprightFrames
public import UprightMediaIO

/// One size of a ladder (`--ladder`), such as `720p` or `640x360:900k`.
public struct Rung: Sendable, Hashable {
  /// The size, in either order of width and height: the canvas decides which of the two is the width.
  public var size: PixelSize
  /// The rate control; `nil` for that of `TranscodeOptions.rate(of:)`.
  public var rate: VideoEncoder.RateControl?

  /// Creates a rung.
  public init(size: PixelSize, rate: VideoEncoder.RateControl? = nil) {
    self.size = size
    self.rate = rate
  }

  /// The largest number of rungs in a ladder.
  public static let limit = 8

  /// The name in file names and playlists: that of a preset, such as `720p`, or the size, such as `640x480`.
  package var name: String {
    StreamPreset.all.first { $0.size.isSame(as: size) }?.name ?? "\(size)"
  }

  /// The bit rate by default, in bits per second: that of the preset, or of one with as many pixels.
  package var usualBits: Double {
    if let preset = StreamPreset.all.first(where: { $0.size.isSame(as: size) }) {
      return Double(preset.bitsPerSecond)
    }
    let pixels = Double(size.width) * Double(size.height)
    let larger = StreamPreset.all.first { Double($0.size.area) > pixels }
    guard let like = larger ?? StreamPreset.all.last else { return pixels }
    // The bits that a pixel needs fall as there are more of them.
    let factor = pixels / Double(like.size.area)
    return Double(like.bitsPerSecond) * factor / factor.squareRoot().squareRoot()
  }

  /// Parses `SIZE[:RATE]`: a preset or `WxH`, and a bit rate such as `900k` or a quality such as `crf=28`.
  ///
  /// - Throws: `usage` for anything else.
  package init(parsing text: String) throws(UprightError) {
    let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(words.first ?? "")
    if let preset = StreamPreset.named(name) {
      size = preset.size
    } else {
      do throws(UprightError) { size = try PixelSize(encoding: name, at: "--ladder") } catch {
        throw UprightError(
          .usage, "\(name) is not a rung: \(error.message)", at: "--ladder",
          remedy: "use " + StreamPreset.all.map(\.name).joined(separator: ", ")
            + ", or a size such as 640x360")
      }
    }
    guard words.count > 1 else { return }
    let word = String(words[1])
    if word.lowercased().hasPrefix("crf=") {
      guard let quality = Double(word.dropFirst(4)) else {
        throw UprightError(
          .usage, "\(word) is not a quality", at: "--ladder", remedy: "write 720p:crf=26")
      }
      rate = try VideoEncoder.RateControl(crf: quality, bitrate: nil)
    } else {
      do throws(UprightError) {
        rate = try VideoEncoder.RateControl(crf: nil, bitrate: word)
      } catch {
        throw UprightError(.usage, error.message, at: "--ladder", remedy: "write 720p:2M")
      }
    }
  }

  /// Parses the rungs of `texts`, each of which may hold several, separated by commas. The largest is first.
  ///
  /// - Throws: `usage` for anything that isn't a rung.
  package static func ladder(parsing texts: [String]) throws(UprightError) -> [Rung] {
    var rungs: [Rung] = []
    for text in texts {
      for word in text.split(separator: ",", omittingEmptySubsequences: false) {
        rungs.append(try Rung(parsing: String(word.filter { !$0.isWhitespace })))
      }
    }
    return rungs.sorted { $0.size.area > $1.size.area }
  }

  /// Checks a ladder, whose largest rung is first.
  ///
  /// - Throws: `usage` if there are too many rungs, two are equal, or one has another shape than the first.
  package static func check(_ ladder: [Rung]) throws(UprightError) {
    guard let first = ladder.first else { return }
    guard ladder.count <= limit else {
      throw UprightError(
        .usage, "\(ladder.count) rungs", at: "--ladder", remedy: "use at most \(limit)")
    }
    for (index, rung) in ladder.enumerated() {
      if ladder[..<index].contains(where: { $0.size.isSame(as: rung.size) }) {
        throw UprightError(
          .usage, "two rungs are \(rung.name)", at: "--ladder", remedy: "give each size once")
      }
      // Sizes are even, so that the same shape differs by a pixel: 854x480 and 1280x720.
      let (long, short) = (rung.size.sides, first.size.sides)
      let (one, other) = (long.0 * short.1, long.1 * short.0)
      guard abs(one - other) * 100 <= max(one, other) else {
        throw UprightError(
          .usage, "\(rung.name) has another shape than \(first.name)", at: "--ladder",
          remedy: "give all rungs the same aspect ratio")
      }
    }
  }
}

extension PixelSize {
  fileprivate var area: Int { width * height }

  /// The longer side, then the shorter.
  fileprivate var sides: (Int, Int) { (max(width, height), min(width, height)) }

  /// Returns whether both sizes have the same sides, in any order.
  fileprivate func isSame(as other: PixelSize) -> Bool { sides == other.sides }

  /// Returns whether a frame of this size must be enlarged to a size that isn't smaller than `other`.
  package func isSmaller(than other: PixelSize) -> Bool {
    sides.0 < other.sides.0 || sides.1 < other.sides.1
  }
}
