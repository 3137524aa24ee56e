// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import UprightFiles
internal import UprightFrames
internal import UprightOrientation
internal import UprightPlaylists
internal import UprightPolicy

@c @implementation
public func upright_tag(
  _ input: UnsafePointer<CChar>?, _ output: UnsafePointer<CChar>?, _ orientation: Int32,
  _ options: UnsafePointer<CChar>?, _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    unsafe report?.pointee = nil
    guard let orientation = ImageOrientation(exif: Int(orientation)) else {
      throw UprightError(
        .usage, "\(orientation) is not an orientation", at: "orientation",
        remedy: "give 1 to 8 as in EXIF")
    }
    var reader = unsafe try CUprightPolicy.options(options)
    var chosen = TagSession.Options(orientation: orientation)
    chosen.writesMessages = try reader.flag("sei")
    chosen.isStrict = try reader.flag("strict")
    chosen.overwrites = try reader.flag("overwrite")
    chosen.keepsTime = try reader.flag("keep-time")
    chosen.isForced = try reader.flag("force")
    chosen.record = try reader.text("record")
    let (inputFormat, format) = (try reader.text("input-format"), try reader.text("format"))
    try reader.finish()
    let input = unsafe try required(input, "input")
    let session =
      if let output = unsafe try text(output, "output") {
        try TagSession(
          input: input, output: output, inputFormat: inputFormat, outputFormat: format,
          options: chosen)
      } else {
        try TagSession(inPlace: input, options: chosen)
      }
    let finished = try apart { () throws(UprightError) in try session.run() }
    unsafe report?.pointee = owned(finished.json.text)
    return Status.ok
  }
}

@c @implementation
public func upright_check(
  _ playlist: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(json, "json")
    var checker = PlaylistChecker()
    let found = checker.check(unsafe try required(playlist, "playlist")).map {
      (violation) -> JSONValue in
      [
        "line": violation.line.map(JSONValue.integer) ?? .null,
        "rule": .string(violation.rule.name), "clause": .string(violation.rule.clause),
        "level": .string(violation.rule.level.rawValue), "detail": .string(violation.detail),
      ]
    }
    unsafe result.pointee = owned(JSONValue.array(found).text)
    return Status.ok
  }
}
