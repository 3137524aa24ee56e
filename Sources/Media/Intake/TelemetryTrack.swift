package import UprightMediaIO
package import UprightOrientation
package import UprightSignals

extension Demuxer.Container {
  /// The tracks with readings of motion sensors (GPMF, CAMM).
  package var telemetryTracks: [StreamInfo] {
    streams.filter { ["gpmd", "camm"].contains($0.codecTag) }
  }
}

extension Demuxer {
  /// The tracks with readings of motion sensors (GPMF, CAMM); none if the input can't be opened again.
  package var telemetryTracks: [StreamInfo] {
    container.isSeekable ? container.telemetryTracks : []
  }

  /// Reads such a track, without moving this demuxer. A read error ends it: the video's own reader reports it.
  ///
  /// - Parameter body: Receives the streams, the time and the duration of each sample. Returns whether to go on.
  package func readTelemetry(
    of stream: StreamInfo, _ body: ([GPMFSample.Stream], MediaTime?, MediaTime) -> Bool
  ) throws(UprightError) {
    let ahead = try opened(for: stream)
    while let packet = (try? ahead.read()) ?? nil {
      guard packet.streamIndex == stream.index else { continue }
      let bytes = unsafe packet.withBytes { unsafe Array($0) }
      let streams =
        stream.codecTag == "gpmd"
        ? GPMFSample(bytes).streams : CAMMSample.reading(bytes).map { [.init(alone: $0)] } ?? []
      guard body(streams, packet.time, packet.length) else { return }
    }
  }
}
