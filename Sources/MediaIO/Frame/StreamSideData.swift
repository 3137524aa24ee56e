internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

/// A copy of one AVPacketSideData of a stream, such as a mastering display or a spherical mapping.
struct StreamSideData: Sendable {
  let type: AVPacketSideDataType
  let bytes: [UInt8]

  static func all(of stream: UnsafePointer<AVStream>) -> [StreamSideData] {
    (0..<upright_stream_side_data_count(stream)).compactMap { index in
      guard let side = upright_stream_side_data(stream, index)?.pointee, let data = side.data else {
        return nil
      }
      return StreamSideData(
        type: side.type, bytes: Array(UnsafeBufferPointer(start: data, count: Int(side.size))))
    }
  }

  init(type: AVPacketSideDataType, bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }

  /// The bytes of `value`, a libavutil structure.
  init<Value: BitwiseCopyable>(type: AVPacketSideDataType, _ value: Value) {
    self.init(type: type, bytes: withUnsafeBytes(of: value) { Array($0) })
  }

  /// Reads the bytes as a libavutil structure. Returns `nil` if there are too few.
  func load<Value: BitwiseCopyable>(as type: Value.Type) -> Value? {
    bytes.count < MemoryLayout<Value>.size
      ? nil : bytes.withUnsafeBytes { $0.loadUnaligned(as: type) }
  }

  /// Adds a copy to `stream`.
  func add(to stream: UnsafeMutablePointer<AVStream>) throws(UprightError) {
    guard let target = upright_stream_new_side_data(stream, type, bytes.count) else {
      throw outOfMemory("side data")
    }
    target.update(from: bytes, count: bytes.count)
  }
}
