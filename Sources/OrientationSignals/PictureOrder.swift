internal import Orientation

/// The pictures between decoder and display in output order, and what stands for each.
///
/// Pictures are added in decoding order and sorted by coded video sequence and then by PTS, which is
/// output order; what has been passed is folded into one standing value. A picture without a PTS takes
/// its place in decoding order.
struct PictureOrder: Sendable {
  /// Pictures kept at most; a decoder holds back 16 frames or 32 fields.
  static let capacity = 512

  private struct Entry {
    /// Grows with each coded video sequence, and where the PTS jump back within one.
    var segment: Int
    var sequence: Int
    /// The PTS, or the one of the picture decoded before.
    var key: Int64
    var isTimed: Bool
    var message: DisplayOrientationMessage?
  }

  /// What stands after a picture (D.2.27, D.3.17).
  private struct HeldContent {
    var sequence = 0
    var values: SEIDisplayOrientation?

    /// Goes past `entry`; returns what holds for that picture itself.
    mutating func pass(_ entry: Entry) -> SEIDisplayOrientation? {
      if entry.sequence != sequence { self = HeldContent(sequence: entry.sequence) }
      switch entry.message {
      case nil: return values
      case .cancel:
        values = nil
        return nil
      case .set(let asked, let period):
        // Any message ends the one before it, one for this picture only too.
        values = period > 0 ? asked : nil
        return asked
      }
    }
  }

  /// Where a picture asked for stands among the entries.
  private enum Place {
    /// It is this one.
    case own(Int)
    /// None of them, but it comes after this one.
    case after(Int)
    /// It comes before all.
    case before
  }

  private var entries: [Entry] = []
  private var passed = HeldContent()
  private var segment = 0
  private var sequence = 0
  private var lastKey: Int64?
  /// The first entry is out: asked for once, and kept in case it is asked for again.
  private var isFrontOut = false
  /// What the front was asked for with, where it had no PTS of its own.
  private var askedFor: Int64?
  /// Where the last picture known to be out stood. What is decoded later cannot come before it.
  private var out: (segment: Int, key: Int64)?

  /// Pictures kept.
  var count: Int { entries.count }

  /// Adds the next picture in decoding order. O(reorder depth).
  mutating func add(_ picture: AccessUnitReader.Picture, pts: Int64?) {
    if picture.startsSequence {
      sequence += 1
      segment += 1
      lastKey = nil
    }
    var key = pts ?? lastKey ?? .min
    if let out, out.segment == segment, key < out.key {
      if pts == nil { key = out.key } else { segment += 1 }
    }
    lastKey = key
    let entry = Entry(
      segment: segment, sequence: sequence, key: key, isTimed: pts != nil, message: picture.message)
    var index = entries.count
    while index > 0, (segment, key) < (entries[index - 1].segment, entries[index - 1].key) {
      index -= 1
    }
    entries.insert(entry, at: index)
  }

  /// Takes the first picture in output order away: its PTS and what holds for it.
  mutating func removeFirst() -> (pts: Int64?, values: SEIDisplayOrientation?)? {
    guard let entry = entries.first else { return nil }
    entries.removeFirst()
    isFrontOut = false
    out = (entry.segment, entry.key)
    return (entry.isTimed ? entry.key : nil, passed.pass(entry))
  }

  /// What holds for the picture presented at `pts`; for nil, for the one after the last asked for.
  /// Pictures in front of it are forgotten. Amortised O(1) where pictures are asked for in order.
  mutating func values(at pts: Int64?) -> SEIDisplayOrientation? {
    switch place(of: pts) {
    case .before: return passed.values
    case .own(let index):
      let isTimed = entries[index].isTimed
      advance(to: index)
      askedFor = isTimed ? nil : pts
      var standing = passed
      return standing.pass(entries[0])
    case .after(let index):
      advance(to: index)
      var standing = passed
      _ = standing.pass(entries[0])
      return standing.values
    }
  }

  private func place(of pts: Int64?) -> Place {
    let next = isFrontOut ? 1 : 0
    guard let pts else {
      return next < entries.count ? .own(next) : entries.isEmpty ? .before : .after(next - 1)
    }
    if isFrontOut, askedFor == pts { return .own(0) }
    if let index = entries.firstIndex(where: { $0.isTimed && $0.key == pts }) { return .own(index) }
    // A time no packet had. Where packets have none, pictures come as they were decoded.
    if next < entries.count, !entries[next].isTimed { return .own(next) }
    let later = entries.firstIndex { $0.key > pts } ?? entries.count
    return later > 0 ? .after(later - 1) : .before
  }

  private mutating func advance(to index: Int) {
    for entry in entries[..<index] { _ = passed.pass(entry) }
    if index > 0 { entries.removeFirst(index) }
    isFrontOut = true
    askedFor = nil
    out = (entries[0].segment, entries[0].key)
  }
}
