internal import CFFmpeg

/// A copy of one AVPacketSideData of a stream: mastering display, spherical mapping and the like.
struct StreamSideData: Sendable {
  let type: AVPacketSideDataType
  let bytes: [UInt8]

  static func all(of stream: UnsafeMutablePointer<AVStream>) -> [StreamSideData] {
    (0..<Int(stream.pointee.nb_side_data)).compactMap { index in
      guard let side = stream.pointee.side_data?[index], let data = side.data else { return nil }
      return StreamSideData(
        type: side.type, bytes: Array(UnsafeBufferPointer(start: data, count: Int(side.size))))
    }
  }

  /// Gives a copy to `stream`.
  func add(to stream: UnsafeMutablePointer<AVStream>) throws(MediaError) {
    guard let target = av_stream_new_side_data(stream, type, bytes.count) else {
      throw outOfMemory("side data")
    }
    target.update(from: bytes, count: bytes.count)
  }
}
