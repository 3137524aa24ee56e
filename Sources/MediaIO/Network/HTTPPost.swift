internal import CFFmpeg
internal import CFFmpegShims

/// An HTTP POST request (RFC 9110, 9.3.3) over libavformat, which is linked anyway and supports TLS and
/// proxies.
package struct HTTPPost: Sendable {
  /// The result of the request.
  package enum Outcome: Sendable, Hashable {
    case delivered
    /// The server refuses the request and will refuse it later too.
    case rejected
    /// The request failed for now. The value is the reason.
    case failed(String)
  }

  package var url: String
  package var contentType: String
  /// Additional header fields, each `Name: value`.
  package var fields: [String]
  package var body: [UInt8]
  /// The proxy: `http://user:password@host:port`.
  package var proxy: String

  package init(
    url: String, contentType: String, fields: [String], body: [UInt8], proxy: String
  ) {
    self.url = url
    self.contentType = contentType
    self.fields = fields
    self.body = body
    self.proxy = proxy
  }

  /// Sends the request and waits for the status. Doesn't follow redirects. Blocks.
  ///
  /// - Parameters:
  ///   - timeout: The number of seconds without a byte after which the request fails.
  ///   - interrupt: Ends the wait.
  package func send(timeout: Double, interrupt: Interrupt) -> Outcome {
    var dictionary: OpaquePointer?
    defer { av_dict_free(&dictionary) }
    let options = [
      "http_proxy": proxy, "post_data": Self.hex(body), "content_type": contentType,
      "headers": fields.map { $0 + "\r\n" }.joined(), "user_agent": "upright",
      "max_redirects": "0", "tls_verify": "1", "rw_timeout": String(Int(timeout * 1e6)),
      "protocol_whitelist": "http,https,tcp,tls,httpproxy",
    ]
    for (key, value) in options { av_dict_set(&dictionary, key, value, 0) }
    var context: UnsafeMutablePointer<AVIOContext>?
    var callback = interrupt.callback
    let result = avio_open2(&context, url, AVIO_FLAG_READ, &callback, &dictionary)
    defer { avio_closep(&context) }
    if result >= 0 { return .delivered }
    return upright_is_http_rejection(result) != 0 ? .rejected : .failed(explain(result))
  }

  /// Returns `bytes` as hexadecimal digits, the form in which libavutil reads binary options.
  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
