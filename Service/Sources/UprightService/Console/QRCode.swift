internal import CUprightQREncode
internal import UprightPolicy

/// A QR code (ISO/IEC 18004) of a text.
struct QRCode {
  /// The number of modules on a side, without the quiet zone of four modules.
  let size: Int
  /// Whether each module is dark, row by row.
  let modules: [Bool]

  /// Returns `nil` if the text is too long for a code, or there is no memory.
  init?(_ text: String) {
    guard let code = unsafe QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
    defer { unsafe QRcode_free(code) }
    size = unsafe Int(code.pointee.width)
    // The lowest bit is the colour; the others tell what the module is for.
    modules = (0..<size * size).map { unsafe code.pointee.data[$0] & 1 == 1 }
  }

  /// The size, and the dark modules as the path of an SVG with one unit for each module.
  var json: JSONValue {
    var path = ""
    for y in 0..<size {
      for x in 0..<size where modules[y * size + x] { path += "M\(x) \(y)h1v1h-1z" }
    }
    return ["size": .integer(size), "path": .string(path)]
  }
}
