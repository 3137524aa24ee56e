/// H.264 parameters in a session description (RFC 6184, 8.1).
package enum H264Parameters {
  /// Returns the NAL units of `sprop-parameter-sets` (comma-separated Base64) with start codes. Returns an
  /// empty array if there are none.
  package static func sets(_ parameters: String) -> [UInt8] {
    for parameter in parameters.split(separator: ";") {
      let sides = parameter.split(separator: "=", maxSplits: 1)
      guard sides.count == 2,
        sides[0].trimmed.lowercased() == "sprop-parameter-sets"
      else { continue }
      return sides[1].split(separator: ",").flatMap { unit -> [UInt8] in
        guard let bytes = Base64.decode(unit.trimmed), !bytes.isEmpty else { return [] }
        return [0, 0, 0, 1] + bytes
      }
    }
    return []
  }
}
