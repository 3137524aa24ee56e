public import UprightOrientation

/// The parser of sizes such as `720x1280`.
package enum StreamSize {
  /// The maximum side, in pixels. No encoder used by Upright supports more.
  static let longestSide = 16384

  /// Reads `WxH`: two positive even numbers, in either order. `path` is the location of the text, for the
  /// error message: `--size`, `stream.size`.
  package static func parse(_ text: some StringProtocol, at path: String) throws(PolicyError)
    -> PixelSize
  {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, let width = number(sides[0]), let height = number(sides[1]) else {
      throw PolicyError(
        .size, "\(quoted(text)) is not a size", at: path,
        remedy: "write width and height in pixels like 720x1280")
    }
    let range = 1...longestSide
    guard range.contains(width), range.contains(height) else {
      throw PolicyError(
        .size, "the size \(quoted(text)) cannot be encoded", at: path,
        remedy: "use sides from 2 to \(longestSide) pixels")
    }
    guard width % 2 == 0, height % 2 == 0 else {
      // Chroma of 4:2:0 is halved, so both sides must be even.
      let even = PixelSize(nearestEven(width), nearestEven(height))
      throw PolicyError(
        .size, "the size \(quoted(text)) is odd", at: path,
        remedy: "use the nearest even size, \(even)")
    }
    return PixelSize(width, height)
  }

  /// Returns the number if `text` has only digits. `Int` would also accept a sign.
  private static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // A number that is too large for `Int` is reported as out of range, not as malformed.
    return Int(text) ?? .max
  }

  /// Rounds down, like `--size source`, but to 2 at least.
  private static func nearestEven(_ side: Int) -> Int { max(2, side & ~1) }
}

extension JSONNode {
  func streamSize() throws(PolicyError) -> PixelSize {
    try StreamSize.parse(try string("a size like \"720x1280\""), at: path.text)
  }
}

/// A named size with a bitrate.
public struct StreamPreset: Sendable, Hashable {
  /// The name, such as `360p`.
  public let name: String
  /// The size, in portrait.
  public let size: PixelSize
  /// The bitrate for this size, in bits per second.
  public let bitsPerSecond: Int

  /// All presets, smallest first.
  public static let all: [StreamPreset] = [
    StreamPreset(name: "180p", size: PixelSize(180, 320), bitsPerSecond: 300_000),
    StreamPreset(name: "270p", size: PixelSize(270, 480), bitsPerSecond: 400_000),
    StreamPreset(name: "360p", size: PixelSize(360, 640), bitsPerSecond: 600_000),
    StreamPreset(name: "540p", size: PixelSize(540, 960), bitsPerSecond: 1_200_000),
    StreamPreset(name: "720p", size: PixelSize(720, 1280), bitsPerSecond: 1_500_000),
    StreamPreset(name: "1080p", size: PixelSize(1080, 1920), bitsPerSecond: 3_000_000),
  ]

  /// Returns the preset named `name`, ignoring case, or `nil` if there is none.
  public static func named(_ name: some StringProtocol) -> StreamPreset? {
    let lowered = name.lowercased()
    return all.first { $0.name == lowered }
  }
}
