public import Orientation

/// Sizes as they are written: `720x1280`.
public enum StreamSize {
  /// The longest side that is accepted: beyond it no encoder in use here goes.
  public static let longestSide = 16384

  /// Reads `WxH`: two positive even numbers, either order. `path` is where the text stands, for the
  /// message: `--size`, `stream.size`.
  public static func parse(_ text: some StringProtocol, at path: String) throws(PolicyError)
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
        remedy: "the nearest even one is \(even)")
    }
    return PixelSize(width, height)
  }

  /// Digits only: `Int` would take a sign too.
  private static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // A number too long for Int is a number all the same: out of range, not malformed.
    return Int(text) ?? .max
  }

  /// Rounded down, as `--size source` is; 1 has only 2.
  private static func nearestEven(_ side: Int) -> Int { max(2, side & ~1) }
}

extension JSONNode {
  func streamSize() throws(PolicyError) -> PixelSize {
    try StreamSize.parse(try string("a size like \"720x1280\""), at: path.text)
  }
}

/// A size by name with its bitrate; spec 3, "Stream format".
public struct StreamPreset: Sendable, Hashable {
  /// `360p`.
  public let name: String
  /// The size, tall.
  public let size: PixelSize
  /// The bitrate that goes with it, in bits per second.
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

  /// The preset called `name`, upper and lower case alike; nil where there is none.
  public static func named(_ name: some StringProtocol) -> StreamPreset? {
    let lowered = name.lowercased()
    return all.first { $0.name == lowered }
  }
}
