internal import UprightSignals

extension [UInt8] {
  /// Adds `growth` to the chunk offsets of every track of this movie box. Returns `false` if an offset would
  /// not fit its 32 or 64 bits; the bytes are then invalid.
  mutating func moveChunks(by growth: Int) -> Bool {
    var ranges = [indices]
    for type in ["moov", "trak", "mdia", "minf", "stbl"] as [MP4BoxType] {
      ranges = ranges.flatMap { range in
        MP4Boxes(self, in: range).complete.filter { $0.type == type }.map(\.payload)
      }
    }
    for table in ranges.flatMap({ MP4Boxes(self, in: $0).complete })
    where table.type == "stco" || table.type == "co64" {
      let width = table.type == "stco" ? 4 : 8
      var moved: [UInt8] = []
      for offset in numbers(in: table.entries, width: width) {
        let (sum, overflow) = offset.addingReportingOverflow(growth)
        if overflow || sum < 0 || width == 4 && sum > Int(UInt32.max) { return false }
        moved += .big(sum, bytes: width)
      }
      replaceSubrange(table.entries.prefix(moved.count), with: moved)
    }
    return true
  }
}
