internal import Foundation
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// The version of a file's segments: two of the same version have the same bytes. It is a part of their URLs,
/// `16 hexadecimal digits-SIZE`, and then `-hdr` or `-h264`.
struct LibraryVersion: Sendable, Hashable, CustomStringConvertible {
  /// How the video is coded.
  enum Coding: String, Sendable {
    /// HDR isn't tone-mapped: HEVC in 10 bits.
    case hdr
    /// Also where GOPs of another codec could be copied.
    case h264
  }

  /// The digest of the file's identity and of the programs that make the segments.
  private let digest: String
  /// `auto`, `source`, or the name of a preset.
  let size: String
  /// `nil` copies what can be copied, and tone-maps HDR.
  let coding: Coding?

  /// The size without a `size` in the URL: that of the guidance, and never above the file's.
  static let automatic = "auto"
  /// The sizes that a URL may ask for.
  static let sizes = ["source"] + StreamPreset.all.map(\.name)
  private static let digits = 16

  /// - Parameter size: One of `sizes`, or `automatic`.
  init(of file: OpenFile, size: String, _ coding: Coding? = nil) {
    let text = [
      file.tag, "\(file.changed)", size, coding?.rawValue ?? "", UprightVersion.current,
      UprightRuntime.ffmpegRelease,
    ]
    let bytes = MessageDigest.sha256(text.joined(separator: "\n").utf8)
    digest = bytes.prefix(Self.digits / 2).hexadecimal
    (self.size, self.coding) = (size, coding)
  }

  /// - Returns: `nil` if text isn't the version of anything.
  init?(_ text: Substring) {
    let sides = text.split(separator: "-", omittingEmptySubsequences: false)
    let coding = sides.count == 3 ? Coding(rawValue: String(sides[2])) : nil
    guard sides.count == 2 || coding != nil, sides[0].utf8.count == Self.digits,
      sides[0].utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
      (Self.sizes + [Self.automatic]).contains(where: { $0 == sides[1] })
    else { return nil }
    (digest, size) = (String(sides[0]), String(sides[1]))
    self.coding = coding
  }

  var description: String { "\(digest)-\(size)\(coding.map { "-\($0)" } ?? "")" }
}
