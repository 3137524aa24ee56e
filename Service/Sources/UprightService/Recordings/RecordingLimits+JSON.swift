internal import UprightPolicy
internal import Upright

extension RecordingLimits {
  /// Reads `segmentDuration` and `segmentSize` of a file output.
  ///
  /// - Throws: `Problem` 422 if one isn't valid.
  init(_ members: [String: JSONValue]) throws(Problem) {
    self.init()
    if let given = members["segmentDuration"] {
      guard let seconds = given.seconds, Self.durations.contains(seconds) else {
        throw .unprocessable(
          "output: segmentDuration must be 1 s to 1 d: a number of seconds, or text such as \"10m\""
        )
      }
      self.seconds = seconds
    }
    if let given = members["segmentSize"] {
      guard let bytes = given.bytes, Self.sizes.contains(bytes) else {
        throw .unprocessable(
          "output: segmentSize must be 1M to 1T: a number of bytes, or text such as \"2G\"")
      }
      self.bytes = bytes
    }
  }
}
