// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import UprightFiles
internal import UprightFrames
internal import UprightOrientation
internal import UprightMedia
internal import UprightPolicy

/// `upright_source`.
private final class SourceHandle: HandleObject {
  static let name = "upright_source"

  let source: SegmentSource
  /// Used by one call at a time.
  let bytes = LentBytes()

  init(_ input: String, _ options: inout OptionReader) throws(UprightError) {
    let policy = try PolicyDocument(option: options.json("policy"))
    let events = try EventSource(policy, option: options.json("events"))
    let format = try options.text("input-format")
    let encoding = try TranscodeOptions(&options)
    try options.finish()
    source = try SegmentSource(
      input: input, inputFormat: format, options: encoding, policy: policy, events: events)
  }

  func description(in folder: String?) -> JSONValue {
    .object([
      .init("playlist", .string(folder.map(source.playlist(in:)) ?? source.playlist)),
      .init("duration", .number(source.duration)),
      .init("warnings", .array(source.warnings.map(JSONValue.string))),
      .init("segments", .array(source.segments.map(\.json))),
    ])
  }
}

extension SegmentSource.Segment {
  fileprivate var json: JSONValue {
    .object([
      .init("start", .number(start)), .init("duration", .number(duration)),
      .init("format", .integer(format)),
      .init("size", ["width": .integer(size.width), "height": .integer(size.height)]),
      .init("reason", reason.map { .string($0) } ?? .null),
    ])
  }
}

@c @implementation
public func upright_source_new(
  _ input: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?,
  _ source: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(source, "source")
    var options = unsafe try CUprightPolicy.options(options)
    let made = unsafe try SourceHandle(required(input, "input"), &options)
    unsafe result.pointee = try HandleTable.shared.add(made)
    return Status.ok
  }
}

@c @implementation
public func upright_source_free(_ source: OpaquePointer?) -> upright_status {
  unsafe free(source, SourceHandle.self)
}

@c @implementation
public func upright_source_description(
  _ source: OpaquePointer?, _ folder: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(json, "json")
    let folder = unsafe try text(folder, "folder")
    return unsafe try HandleTable.shared.use(source, as: SourceHandle.self, .main) { handle in
      unsafe result.pointee = owned(handle.description(in: folder).compact)
      return Status.ok
    }
  }
}

/// Runs a call that returns bytes.
private func make(
  _ source: OpaquePointer?, _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (SegmentSource) throws(UprightError) -> [UInt8]
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let start = unsafe try result(bytes, "bytes")
    guard let length = unsafe length else { throw .missing("length") }
    return unsafe try HandleTable.shared.use(source, as: SourceHandle.self, .main) {
      (handle) throws(UprightError) in
      unsafe handle.bytes.keep(try body(handle.source), start, length)
      return Status.ok
    }
  }
}

@c @implementation
public func upright_source_segment(
  _ source: OpaquePointer?, _ index: Int64,
  _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe make(source, bytes, length, error) { (source) throws(UprightError) in
    try source.segment(Int(clamping: index))
  }
}

@c @implementation
public func upright_source_init_segment(
  _ source: OpaquePointer?, _ format: Int64,
  _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe make(source, bytes, length, error) { (source) throws(UprightError) in
    try source.initSegment(Int(clamping: format))
  }
}

@c @implementation
public func upright_source_file(
  _ source: OpaquePointer?, _ name: UnsafePointer<CChar>?,
  _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe make(source, bytes, length, error) { (source) throws(UprightError) in
    let name = unsafe try required(name, "name")
    guard let file = SegmentFile(name) else {
      throw UprightError(
        .usage, "\(name) is no file of a source", at: "name",
        remedy: "use one that a playlist names")
    }
    return try source.bytes(of: file)
  }
}

@c @implementation
public func upright_source_multivariant(
  _ sources: UnsafePointer<OpaquePointer?>?,
  _ folders: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int,
  _ playlist: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(playlist, "playlist")
    guard let sources = unsafe sources, count > 0 else { throw .missing("sources") }
    guard let folders = unsafe folders else { throw .missing("folders") }
    var variants: [(variant: SegmentVariant, folder: String)] = []
    for index in 0..<count {
      let folder = unsafe try required(folders[index], "folders")
      let variant = unsafe try HandleTable.shared.use(
        sources[index], as: SourceHandle.self, .main
      ) { (handle) throws(UprightError) in try handle.source.variant() }
      variants.append((variant, folder))
    }
    unsafe result.pointee = owned(SegmentVariant.playlist(of: variants))
    return Status.ok
  }
}
