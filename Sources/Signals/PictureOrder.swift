internal import UprightOrientation

/// The pictures between decoder and display in output order, and the orientation of each.
///
/// Pictures are added in decoding order and sorted by coded video sequence and then by PTS, which
/// is output order. Pictures that were passed are folded into one persistent value. A picture
/// without a PTS keeps its position in decoding order.
struct PictureOrder: Sendable {
  /// The maximum number of pictures kept. A decoder holds back 16 frames or 32 fields.
  static let capacity = 512

  private struct Entry {
    /// Incremented for each coded video sequence, and when the PTS jumps back within one.
    var segment: Int
    var sequence: Int
    /// The PTS, or that of the picture decoded before.
    var key: Int64
    var isTimed: Bool
    var message: DisplayOrientationMessage?
  }

  /// The orientation that persists after a picture (D.2.27, D.3.17).
  private struct HeldContent {
    var sequence = 0
    var values: SEIDisplayOrientation?

    /// Updates the state past `entry` and returns the orientation of that picture itself.
    mutating func pass(_ entry: Entry) -> SEIDisplayOrientation? {
      if entry.sequence != sequence { self = HeldContent(sequence: entry.sequence) }
      switch entry.message {
      case nil: return values
      case .cancel:
        values = nil
        return nil
      case .set(let asked, let period):
        // Any message ends the previous one, even a message for this picture only.
        values = period > 0 ? asked : nil
        return asked
      }
    }
  }

  /// The position of a queried picture among the entries.
  private enum Place {
    /// It is the entry at this index.
    case own(Int)
    /// It is no entry, but follows the one at this index.
    case after(Int)
    /// It precedes all entries.
    case before
  }

  private var entries: [Entry] = []
  private var passed = HeldContent()
  private var segment = 0
  private var sequence = 0
  private var lastKey: Int64?
  /// Whether the first entry was output. It was queried once, and is kept in case it is queried
  /// again.
  private var isFrontOut = false
  /// The time with which the first entry was queried, if it has no PTS.
  private var askedFor: Int64?
  /// The position of the last picture known to be output. No picture decoded later precedes it.
  private var out: (segment: Int, key: Int64)?

  /// The number of pictures kept.
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

  /// Removes the first picture in output order and returns its PTS and its orientation.
  mutating func removeFirst() -> (pts: Int64?, values: SEIDisplayOrientation?)? {
    guard let entry = entries.first else { return nil }
    entries.removeFirst()
    isFrontOut = false
    out = (entry.segment, entry.key)
    return (entry.isTimed ? entry.key : nil, passed.pass(entry))
  }

  /// Returns the orientation of the picture presented at `pts`, or for `nil` of the picture after
  /// the last one queried. Discards the pictures before it. Amortised O(1) if pictures are queried
  /// in order.
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
    // No packet had this time. If packets have no times, pictures are presented in decoding order.
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
