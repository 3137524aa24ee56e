// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import UprightLive
internal import UprightOrientation

/// `upright_segments`.
@safe private final class SegmentsHandle: HandleObject {
  static let name = "upright_segments"

  let segments: MovieSegments
  /// Used by one call at a time.
  let bytes = LentBytes()

  init(_ segments: MovieSegments) { self.segments = segments }
}

@c @implementation
public func upright_segments_new(
  _ time_base: upright_rational, _ audio: UnsafePointer<upright_stream>?,
  _ segments: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(segments, "segments")
    let second = unsafe audio == nil ? nil : try prepared(audio, "audio").audio()
    let made = MovieSegments(timeBase: try time_base.checked(), audio: second)
    unsafe result.pointee = try HandleTable.shared.add(SegmentsHandle(made))
    return Status.ok
  }
}

@c @implementation
public func upright_segments_free(_ segments: OpaquePointer?) -> upright_status {
  unsafe free(segments, SegmentsHandle.self)
}

/// Runs a call that returns bytes.
private func make(
  _ segments: OpaquePointer?, _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (MovieSegments) throws(UprightError) -> [UInt8]
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let start = unsafe try result(bytes, "bytes")
    guard let length = unsafe length else { throw .missing("length") }
    return unsafe try HandleTable.shared.use(segments, as: SegmentsHandle.self, .main) {
      (handle) throws(UprightError) in
      unsafe handle.bytes.keep(try body(handle.segments), start, length)
      return Status.ok
    }
  }
}

@c @implementation
public func upright_segments_begin(
  _ segments: OpaquePointer?, _ video: UnsafePointer<upright_stream>?,
  _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe make(segments, bytes, length, error) { (segments) throws(UprightError) in
    try segments.begin(unsafe prepared(video, "video").video())
  }
}

@c @implementation
public func upright_segments_append(
  _ segments: OpaquePointer?, _ packet: UnsafePointer<upright_packet>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    guard let packet = unsafe packet else { throw .missing("packet") }
    guard unsafe packet.pointee.size >= MemoryLayout<upright_packet>.size else {
      throw .unprepared("packet")
    }
    return unsafe try HandleTable.shared.use(segments, as: SegmentsHandle.self, .main) {
      (handle) throws(UprightError) in
      try handle.segments.append(unsafe packet.pointee.encoded())
      return Status.ok
    }
  }
}

@c @implementation
public func upright_segments_cut(
  _ segments: OpaquePointer?, _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe make(segments, bytes, length, error) { (segments) throws(UprightError) in
    try segments.cut()
  }
}
