internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO
internal import UprightSignals

/// The parts of a session description (RFC 8866) that are used: the address, port and codec of each stream,
/// and which header extension is CVO.
struct SessionDescription {
  /// One `m=` section.
  struct Media {
    let isVideo: Bool
    /// The UDP destination port.
    let port: UInt16
    /// The destination address.
    var address: String
    var payloadTypes: [UInt8]
    var codec: RTPCodec?
    var payloadType: UInt8 = 0
    var extensions: [Int: String] = [:]
    /// H.264 parameter sets with start codes.
    var parameterSets: [UInt8] = []
    /// The port of RTCP; `nil` if it is that of RTP (RFC 5761).
    var controlPort: UInt16?
    /// The payload type of RED (RFC 2198) around the codec's payload.
    var redundancy: UInt8?

    /// The payload types of the packets: the codec's, RED's, and comfort noise's beside G.711.
    var types: [UInt8] {
      [payloadType] + [redundancy].compactMap(\.self) + (isVideo ? [] : [13])
    }
  }

  /// The first video stream, and the first audio stream if there is one.
  let video: Media
  let audio: Media?

  /// - Throws: `badData`, with the line.
  init(_ text: String) throws(UprightError) {
    var address = "0.0.0.0"
    var media: [Media] = []
    var maps: [[(type: UInt8, name: String)]] = []
    var formats: [(media: Int, type: UInt8, text: String)] = []
    for line in text.split(whereSeparator: \.isNewline).prefix(2000) {
      let line = line.trimmed
      if let value = Self.value("c=", line) {
        let words = value.split(separator: " ")
        guard words.count == 3, words[0] == "IN" else { throw Self.error("the line \(line)") }
        let host = String(words[2].prefix { $0 != "/" })
        if media.isEmpty { address = host } else { media[media.count - 1].address = host }
      } else if let value = Self.value("m=", line) {
        media.append(try Self.media(value, address: address))
        maps.append([])
      } else if let last = media.indices.last {
        if let (type, rest) = Self.typed("a=rtpmap:", line) {
          let name = String(rest.prefix { $0 != "/" }).lowercased()
          maps[last].append((type, name))
        } else if let (type, rest) = Self.typed("a=fmtp:", line) {
          formats.append((last, type, rest))
        } else if let value = Self.value("a=extmap:", line) {
          // `4/recvonly urn:...`: the direction is ignored.
          let words = value.split(separator: " ")
          guard words.count >= 2, let id = Int(words[0].prefix { $0 != "/" }) else {
            throw Self.error("the line \(line)")
          }
          media[last].extensions[id] = String(words[1])
        } else if let value = Self.value("a=rtcp:", line) {
          media[last].controlPort = UInt16(value.prefix { $0 != " " })
        } else if line == "a=rtcp-mux" {
          media[last].controlPort = nil
        }
      }
    }
    for index in media.indices { Self.selectCodec(&media[index], maps[index]) }
    for (index, type, text) in formats where media[index].payloadType == type {
      media[index].parameterSets = H264Parameters.sets(text)
    }
    // Port 0 means that a stream is not sent (RFC 8866, 5.14).
    media.removeAll { $0.codec == nil || $0.port == 0 }
    guard let video = media.first(where: \.isVideo) else {
      throw Self.error("no video in H.264, VP8 or VP9")
    }
    self.video = video
    audio = media.first { !$0.isVideo }
  }

  /// Returns the ports of the streams, one if they share it.
  ///
  /// - Throws: `badData` if the streams share a port and can't be told apart.
  func ports() throws(UprightError) -> [UDPPort] {
    let port = UDPPort(address: video.address, port: video.port)
    guard let audio else { return [port] }
    guard audio.port == video.port else {
      return [port, UDPPort(address: audio.address, port: audio.port)]
    }
    guard audio.address == video.address, !audio.types.contains(where: video.types.contains) else {
      throw UprightError(
        .badData, "video and audio use the same port", at: "SDP",
        remedy: "give each a different port, or each a different payload type and the same address")
    }
    return [port]
  }

  /// Returns the separate ports of RTCP.
  var controlPorts: [UDPPort] {
    let media = [video, audio].compactMap(\.self)
    let ports = media.compactMap { media in
      media.controlPort.map { UDPPort(address: media.address, port: $0) }
    }
    return Set(ports).filter { port in port.port > 0 && !media.contains { $0.port == port.port } }
  }

  private static func media(_ value: String, address: String) throws(UprightError) -> Media {
    let words = value.split(separator: " ")
    guard words.count >= 4, let port = UInt16(words[1].prefix { $0 != "/" }),
      words[2].hasPrefix("RTP/")
    else { throw error("the line m=\(value.prefix(80))") }
    // RFC 3550, 11: without another line, RTCP has the next port.
    return Media(
      isVideo: words[0] == "video", port: port, address: address,
      payloadTypes: words[3...].compactMap { UInt8($0) }, controlPort: port == .max ? nil : port + 1
    )
  }

  /// Selects the first payload type whose codec is supported.
  private static func selectCodec(_ media: inout Media, _ map: [(type: UInt8, name: String)]) {
    media.redundancy = map.first { $0.name == "red" }?.type
    for type in media.payloadTypes {
      // G.711's payload types don't need an `a=rtpmap` line (RFC 3551, table 4).
      let name = map.first { $0.type == type }?.name ?? [0: "pcmu", 8: "pcma"][type]
      guard let codec = name.flatMap(RTPCodec.init(rawValue:)), codec.isVideo == media.isVideo
      else { continue }
      (media.codec, media.payloadType) = (codec, type)
      return
    }
  }

  private static func value(_ prefix: String, _ line: String) -> String? {
    line.hasPrefix(prefix) ? String(line.dropFirst(prefix.count)) : nil
  }

  private static func typed(_ prefix: String, _ line: String) -> (UInt8, String)? {
    guard let value = value(prefix, line), let space = value.firstIndex(of: " "),
      let type = UInt8(value[..<space])
    else { return nil }
    return (type, String(value[value.index(after: space)...]))
  }

  private static func error(_ what: String) -> UprightError {
    UprightError(
      .badData, "can't read the session description: \(what)", at: "SDP",
      remedy: "expected RFC 8866 with m=video PORT RTP/AVP TYPE and a=rtpmap")
  }
}
