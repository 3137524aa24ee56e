internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Content whose bytes are known, for requests with conditions and ranges.
struct ServedContent {
  /// The size in bytes.
  let size: Int
  /// The entity tag (RFC 9110, 8.8.3).
  let tag: String
  /// Returns the body with bytes of the content.
  let body: @Sendable (ClosedRange<Int>) -> ResponseBody

  /// Returns the response to a GET or HEAD request: all of the content or the part that is asked for (RFC 9110, 13
  /// and 14).
  func response(to request: Request, _ headers: HTTPFields) -> Response {
    var headers = headers
    headers[.acceptRanges] = "bytes"
    headers[.eTag] = tag
    if let tags = request.headers[.ifNoneMatch], Self.lists(tags, tag) {
      headers[.contentType] = nil
      return Response(status: .notModified, headers: headers)
    }
    // A part of another version would not fit to what the client has.
    let isSame = request.headers[.ifRange].map { $0 == tag } ?? true
    let asked = request.method == .get && isSame ? request.headers[.range] : nil
    switch ByteRange(asked, size: size) {
    case .unsatisfiable:
      headers[.contentRange] = "bytes */\(size)"
      headers[.contentType] = nil
      return Response(status: .rangeNotSatisfiable, headers: headers)
    case .whole:
      headers[.contentLength] = String(size)
      guard size > 0 else { return Response(status: .ok, headers: headers) }
      return Response(status: .ok, headers: headers, body: body(0...size - 1))
    case .part(let bytes):
      headers[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(size)"
      headers[.contentLength] = String(bytes.count)
      return Response(status: .partialContent, headers: headers, body: body(bytes))
    }
  }

  /// Returns whether the value of an `If-None-Match` field lists a tag (RFC 9110, 13.1.2).
  private static func lists(_ tags: String, _ tag: String) -> Bool {
    tags.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.contains {
      $0 == "*" || $0 == tag || $0 == "W/" + tag
    }
  }
}
