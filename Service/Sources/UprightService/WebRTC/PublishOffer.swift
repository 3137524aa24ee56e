internal import UprightPolicy

/// The SDP offer of a publisher, checked: one video stream in a codec that is supported, and at most one audio
/// stream.
struct PublishOffer: Sendable {
  let text: String
  /// Whether candidates may follow.
  let trickles: Bool

  /// The largest offer, in bytes. Browsers send about 5000.
  static let mostBytes = 64 << 10
  /// The codecs, in the order of preference. H.264 is encoded by the hardware of phones.
  static let videoCodecs = ["h264", "vp8", "vp9"]

  /// - Throws: `Problem` 400 if the bytes aren't a session description, 422 if it doesn't offer what is needed.
  init(_ bytes: [UInt8]) throws(Problem) {
    guard let text = String(validating: bytes, as: UTF8.self),
      let sections = MediaSection.parse(text)
    else { throw .badRequest("the body isn't a session description (RFC 8866)") }
    let videos = sections.filter { $0.kind == "video" }
    guard let video = videos.first else {
      throw .unprocessable("the offer has no video; add a video track")
    }
    guard videos.count == 1, sections.count(where: { $0.kind == "audio" }) <= 1 else {
      throw .unprocessable("the offer has several videos or audios; send one of each at most")
    }
    guard !video.attributes.contains(where: { ["recvonly", "inactive"].contains($0) }) else {
      throw .unprocessable("the offer doesn't send video; make its direction sendonly")
    }
    guard
      video.values(of: "simulcast").isEmpty,
      !video.values(of: "rid").contains(where: { $0.hasSuffix(" send") || $0.contains(" send ") })
    else { throw .unprocessable("simulcast isn't supported; send one encoding") }
    guard video.codecs.contains(where: Self.videoCodecs.contains) else {
      throw .unprocessable("the offer has no video in H.264, VP8 or VP9")
    }
    self.text = text
    trickles = !sections.contains { $0.attributes.contains("end-of-candidates") }
  }

  /// Returns the offer with other credentials and no candidates, which restarts ICE (RFC 8829, 5.2.2).
  func text(with credentials: ICECredentials) -> String {
    var lines: [Substring] = []
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("a=ice-ufrag:") {
        lines.append("a=ice-ufrag:" + credentials.name)
      } else if line.hasPrefix("a=ice-pwd:") {
        lines.append("a=ice-pwd:" + credentials.password)
      } else if !line.hasPrefix("a=candidate:"), line != "a=end-of-candidates" {
        lines.append(line)
      }
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}

/// What Janus has accepted of an offer: the streams that it forwards.
struct AcceptedMedia: Sendable, Hashable {
  /// The `mid` of the video, and of the audio if there is any.
  let videoID: String
  let audioID: String?
  /// Whether Janus has named candidates of its own.
  let hasCandidates: Bool
  /// Janus' credentials and candidates as a fragment (RFC 8840), in the form of RFC 9725, 4.3.2. `nil` without
  /// credentials.
  let fragment: String?
  private let videoCodec: String
  private let orientationID: Int?

  /// The payload types that Janus gives to the packets.
  static let (videoType, audioType) = (96, 97)

  /// Reads an answer. Returns `nil` if it has no video that can be used.
  init?(answer: String) {
    guard let sections = MediaSection.parse(answer) else { return nil }
    let accepted = sections.filter { $0.port > 0 && !$0.attributes.contains("inactive") }
    guard let video = accepted.first(where: { $0.kind == "video" }), let videoID = video.mid,
      let codec = video.codecs.first, PublishOffer.videoCodecs.contains(codec)
    else { return nil }
    let audio = accepted.first { $0.kind == "audio" && $0.codecs.first == "opus" }
    self.videoID = videoID
    let candidates = sections.flatMap { $0.values(of: "candidate") }
    hasCandidates = !candidates.isEmpty
    fragment = ICECredentials(answer).map { credentials in
      let lines =
        [
          "m=video 9 UDP/TLS/RTP/SAVPF \(video.types.first ?? 0)", "a=mid:\(videoID)",
          "a=ice-ufrag:\(credentials.name)", "a=ice-pwd:\(credentials.password)",
        ] + candidates.map { "a=candidate:\($0)" } + ["a=end-of-candidates"]
      return lines.joined(separator: "\r\n") + "\r\n"
    }
    videoCodec = codec
    audioID = audio?.mid
    // The identifier in an answer is the one of the offer (RFC 8285, 6), and Janus forwards it unchanged.
    orientationID = video.orientationID
  }

  /// The session description of the forwarded streams.
  var description: String {
    var lines = [
      "v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
      "m=video 9 RTP/AVP \(Self.videoType)", "a=rtpmap:\(Self.videoType) \(videoCodec)/90000",
    ]
    if let orientationID {
      lines.append("a=extmap:\(orientationID) urn:3gpp:video-orientation")
    }
    if audioID != nil {
      lines += [
        "m=audio 9 RTP/AVP \(Self.audioType)", "a=rtpmap:\(Self.audioType) opus/48000/2",
      ]
    }
    return lines.joined(separator: "\r\n")
  }
}
