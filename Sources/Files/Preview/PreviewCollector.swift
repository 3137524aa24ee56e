internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Keeps a few thumbnails of an input: some at regular intervals, and those before and after a change. Memory
/// use doesn't grow with the length of the input.
final class PreviewCollector: FrameTap {
  /// One column of the contact sheet.
  struct Column {
    let frame: Int
    let time: MediaTime
    let storedSize: PixelSize
    let uprightSize: PixelSize
    let stored: RGBPicture
    let upright: RGBPicture
  }

  private final class Last {
    let stored: VideoFrame
    let upright: VideoFrame
    init(_ stored: consuming VideoFrame, _ upright: consuming VideoFrame) {
      self.stored = consume stored
      self.upright = consume upright
    }
  }

  private let cell: Int
  private let limit: Int
  private let storedScaler = Scaler()
  private let uprightScaler = Scaler()
  private var even: [Column] = []
  private var stride = 1
  private var changes: [Column] = []
  private var last: (shown: Last, direction: FrameDirection, time: MediaTime)?
  /// The sizes of the stored frames, each with its start time; `uprightSizes` has those of the output frames.
  private(set) var storedSizes: [TimelineDrawing.Size] = []
  private(set) var uprightSizes: [TimelineDrawing.Size] = []
  /// The number of frames received.
  private(set) var frames = 0

  /// - Parameters:
  ///   - limit: The maximum number of columns.
  ///   - cell: The side length in pixels of the square that a thumbnail fits into.
  init(limit: Int, cell: Int) {
    self.limit = limit
    self.cell = cell
  }

  func process(
    stored: consuming VideoFrame, upright: consuming VideoFrame, direction: FrameDirection,
    time: MediaTime
  ) throws(UprightError) {
    TimelineDrawing.Size.add(stored.size, at: time.seconds, in: &storedSizes)
    TimelineDrawing.Size.add(upright.size, at: time.seconds, in: &uprightSizes)
    let shown = Last(stored, upright)
    if let last, last.direction != direction, changes.count < limit * 4 {
      changes.append(try column(last.shown, frames - 1, last.time))
      changes.append(try column(shown, frames, time))
    }
    if frames % stride == 0 {
      even.append(try column(shown, frames, time))
      if even.count >= limit * 4 {
        stride *= 2
        even = even.filter { $0.frame % stride == 0 }
      }
    }
    last = (shown, direction, time)
    frames += 1
  }

  private func column(_ shown: Last, _ frame: Int, _ time: MediaTime) throws(UprightError)
    -> Column
  {
    Column(
      frame: frame, time: time, storedSize: shown.stored.size,
      uprightSize: shown.upright.size,
      stored: try RGBPicture(shown.stored, longestSide: cell, scaler: storedScaler),
      upright: try RGBPicture(shown.upright, longestSide: cell, scaler: uprightScaler))
  }

  /// At most `limit` columns in order of time: first those at changes, then those that fill the longest gaps.
  var columns: [Column] {
    var chosen: [Int: Column] = [:]
    // If there are too many changes, choose some from the whole input.
    let room = limit / 2
    let pairs = changes.count / 2
    let kept = min(pairs, max(1, room / 2 + room % 2))
    for index in 0..<kept {
      let pair = pairs <= kept ? index : index * pairs / kept
      for column in changes[2 * pair...2 * pair + 1] { chosen[column.frame] = column }
    }
    if chosen.isEmpty {
      // The middles of equal parts.
      for index in 0..<limit {
        let wanted = (2 * index + 1) * frames / (2 * limit)
        let near = even.min { abs($0.frame - wanted) < abs($1.frame - wanted) }
        if let near { chosen[near.frame] = near }
      }
    }
    // Then add, one by one, the frame farthest from all chosen ones. The distance to an end counts twice.
    while chosen.count < limit {
      func distance(_ column: Column) -> Int {
        let ends = 2 * min(column.frame, frames - 1 - column.frame)
        return min(ends, chosen.keys.map { abs($0 - column.frame) }.min() ?? 0)
      }
      guard let next = even.max(by: { distance($0) < distance($1) }), distance(next) > 0 else {
        break
      }
      chosen[next.frame] = next
    }
    return chosen.values.sorted { $0.frame < $1.frame }
  }
}
