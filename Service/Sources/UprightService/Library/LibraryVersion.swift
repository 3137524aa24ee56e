internal import Foundation
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// The version of a file's segments: two of the same version have the same bytes. It is a part of their URLs,
/// `16 hexadecimal digits-SIZE`, and then `-hdr` if HDR is kept.
struct LibraryVersion: Sendable, Hashable, CustomStringConvertible {
  /// The digest of the file's identity and of the programs that make the segments.
  private let digest: String
  /// `auto`, `source`, or the name of a preset.
  let size: String
  /// Whether HDR isn't tone-mapped.
  let keepsHDR: Bool

  /// The size without a `size` in the URL: that of the guidance, and never above the file's.
  static let automatic = "auto"
  /// The sizes that a URL may ask for.
  static let sizes = ["source"] + StreamPreset.all.map(\.name)
  private static let digits = 16

  /// - Parameter size: One of `sizes`, or `automatic`.
  init(of file: OpenFile, size: String, keepsHDR: Bool = false) {
    let text = [
      file.tag, size, "\(keepsHDR)", UprightVersion.current, UprightRuntime.ffmpegRelease,
    ]
    let bytes = MessageDigest.sha256(text.joined(separator: "\n").utf8)
    digest = bytes.prefix(Self.digits / 2).hexadecimal
    (self.size, self.keepsHDR) = (size, keepsHDR)
  }

  /// - Returns: `nil` if text isn't the version of anything.
  init?(_ text: Substring) {
    let sides = text.split(separator: "-", omittingEmptySubsequences: false)
    guard (2...3).contains(sides.count), sides.count == 2 || sides[2] == "hdr",
      sides[0].utf8.count == Self.digits,
      sides[0].utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
      (Self.sizes + [Self.automatic]).contains(where: { $0 == sides[1] })
    else { return nil }
    (digest, size) = (String(sides[0]), String(sides[1]))
    keepsHDR = sides.count == 3
  }

  var description: String { "\(digest)-\(size)\(keepsHDR ? "-hdr" : "")" }
}
