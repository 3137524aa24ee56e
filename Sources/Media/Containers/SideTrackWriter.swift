package import UprightOrientation
package import UprightMediaIO

/// Writes one track other than the video: copied if the container accepts it, otherwise re-encoded.
package final class SideTrackWriter {
  package enum Work {
    case copy
    /// AAC from MPEG-TS has ADTS headers; MP4 and FLV require AAC without them.
    case filter(BitstreamFilter)
    case transcode(AudioTranscoder)
    /// Text subtitles converted to the container's format.
    case rewrite(SubtitleTranscoder)
    /// A file that the container's header has: no packets.
    case attach
  }

  package let stream: StreamInfo
  /// The index of the track in the output; 0 is the video.
  package let track: Int
  package let work: Work
  /// The description for the container. It is complete once the first packet has been written.
  package private(set) var description: SideTrack
  private var lastPTS: Int64?

  /// - Parameter copies: Whether audio that the container accepts is copied.
  package init(
    stream: StreamInfo, track: Int, container: OutputContainer, copies: Bool = true
  ) throws(UprightError) {
    if stream.kind == .audio && stream.parameters.sampleRate <= 0 {
      throw UprightError(.badData, "the input has no data for it")
    }
    self.stream = stream
    self.track = track
    let isCopied =
      switch stream.kind {
      case .audio:
        copies && container.copiesAudio(stream.codecName) && container.keeps(stream.editing)
      case .subtitle: container.copiesSubtitles(stream.codecName)
      default: true
      }
    var parameters = stream.parameters
    var metadata = container.trackTags(stream.metadata)
    var timeBase = stream.timeBase
    if container.isAttachment(stream) {
      work = .attach
      (parameters, metadata) = try stream.attached()
    } else if !isCopied, stream.kind == .subtitle, let encoder = container.subtitleEncoder {
      let transcoder = try SubtitleTranscoder(stream: stream, encoderName: encoder)
      work = .rewrite(transcoder)
      parameters = try transcoder.parameters()
      timeBase = transcoder.timeBase
    } else if !isCopied, let encoder = container.audioEncoder {
      let transcoder = try AudioTranscoder(
        stream: stream, encoderName: encoder, wantsGlobalHeader: container.wantsGlobalHeader)
      work = .transcode(transcoder)
      parameters = try transcoder.parameters()
      timeBase = transcoder.timeBase
    } else if stream.codecName == "aac", stream.parameters.extradata.isEmpty,
      container.wantsGlobalHeader
    {
      let filter = try BitstreamFilter("aac_adtstoasc", for: stream)
      work = .filter(filter)
    } else {
      work = .copy
    }
    description = SideTrack(
      parameters: parameters, timeBase: timeBase, source: stream, metadata: metadata)
  }

  /// Writes one packet of the stream, or `nil` at its end, and passes on the resulting packets.
  package func write(
    _ packet: consuming Packet?, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    switch work {
    case .copy:
      if var packet {
        complete(&packet)
        try emit(packet)
      }
    case .filter(let filter):
      guard var packet else { return }
      complete(&packet)
      guard let filtered = try filter.filter(packet) else { return }
      if let configuration = filtered.newExtradata {
        // Only the headers of the frames contain the core sample rate of HE-AAC.
        description.parameters = try description.parameters.with(extradata: configuration)
      }
      try emit(filtered)
    case .transcode(let transcoder):
      try transcoder.transcode(packet, emit: emit)
    case .rewrite(let transcoder):
      try transcoder.transcode(packet, emit: emit)
    case .attach: break
    }
  }

  /// Forgets the last packet: the next one doesn't follow it.
  package func restart() { lastPTS = nil }

  /// Gives the track the extradata that a writer of the same stream ended with. Use it if the packets come from
  /// that writer and are not written here.
  package func restore(extradata: [UInt8]) throws(UprightError) {
    guard extradata != description.parameters.extradata else { return }
    description.parameters = try description.parameters.with(extradata: extradata)
  }

  /// Whether the packets are the input's.
  package var isCopied: Bool {
    switch work {
    case .copy, .filter, .attach: true
    case .transcode, .rewrite: false
    }
  }

  /// The extradata of the output's track so far.
  package var extradata: [UInt8] { description.parameters.extradata }

  /// Sets the duration of an audio packet without one to the distance from the packet before it. Matroska and
  /// FLV store no durations, and MP4's edit list would cut off the last packet.
  private func complete(_ packet: inout Packet) {
    guard stream.kind == .audio, let pts = packet.pts else { return }
    if packet.duration == 0, let lastPTS, pts > lastPTS { packet.duration = pts - lastPTS }
    lastPTS = pts
  }

  /// The number of packets that could not be decoded; 0 if no decoding was needed.
  package var damagedPackets: Int {
    switch work {
    case .copy, .filter, .attach: 0
    case .transcode(let transcoder): transcoder.damagedPackets
    case .rewrite(let transcoder): transcoder.damagedPackets
    }
  }
}
