extension Collection<UInt8> where Index == Int {
  /// Returns the unsigned number in `count` bytes from index `start` on. The bytes must exist.
  func bigEndian(at start: Int, count: Int) -> Int {
    var value = 0
    for index in start..<start + count { value = value << 8 | Int(self[index]) }
    return value
  }
}
