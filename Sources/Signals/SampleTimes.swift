internal import UprightOrientation

/// When each sample of a track is decoded and presented, in ticks of the media. Uses some 30 bytes a sample.
package struct SampleTimes: Sendable {
  /// Decoding times in decoding order: they never decrease.
  package let decoding: [Int64]
  /// Composition times in decoding order.
  package let composition: [Int64]
  /// The time at which each sample's picture is replaced by the next one, in decoding order.
  package let ends: [Int64]
  /// The usual duration of a picture: the median.
  package let usualDuration: Int64
  /// How far composition times are before decoding times at most.
  package let lateness: Int64
  /// The indexes of the samples in the order of their composition times.
  private let order: [Int32]
  /// The indexes of the samples at which decoding can start, ascending; `nil` if it can at each.
  private let keys: [Int]?

  /// - Parameters:
  ///   - keys: The indexes of sync samples in any order; `nil` if all are.
  ///   - end: The decoding time after the last sample.
  package init(decoding: [Int64], composition: [Int64], keys: [Int]?, end: Int64) {
    (self.decoding, self.composition) = (decoding, composition)
    self.keys = keys.map { Set($0).sorted() }
    decodingEnd = end
    let order = composition.indices.sorted { (composition[$0], $0) < (composition[$1], $1) }
    self.order = order.map { Int32(clamping: $0) }
    lateness = max(0, zip(decoding, composition).map { $0 - $1 }.max() ?? 0)
    var ends = composition
    for (index, next) in zip(order, order.dropFirst()) { ends[index] = composition[next] }
    if let first = order.first, let last = order.last {
      // The composition of all samples lasts as long as their decoding.
      let length = end - (decoding.first ?? 0)
      let own = (last + 1 < decoding.count ? decoding[last + 1] : end) - decoding[last]
      ends[last] = max(composition[last] + own, composition[first] + length)
    }
    let durations = zip(composition, ends).map { $1 - $0 }.sorted()
    usualDuration = durations.isEmpty ? 0 : durations[durations.count / 2]
    // A last picture without a duration is shown as long as usual.
    if let last = order.last, ends[last] == composition[last] { ends[last] += usualDuration }
    self.ends = ends
  }

  /// The decoding time after the last sample.
  package let decodingEnd: Int64

  package var count: Int { decoding.count }

  /// The index of the sample that is presented last.
  package var latest: Int { order.last.map { Int($0) } ?? 0 }

  /// The composition time after the last picture.
  package var end: Int64 { order.last.map { ends[Int($0)] } ?? 0 }

  /// The composition time of the first picture.
  package var start: Int64 { order.first.map { composition[Int($0)] } ?? 0 }

  /// Returns the samples whose pictures are presented at some time in `media`, in presentation order.
  package func presented(in media: Range<Int64>) -> some BidirectionalCollection<Int> {
    let first = order.place { composition[Int($0)] <= media.lowerBound }
    let end = order.place { composition[Int($0)] < media.upperBound }
    // Of several samples at one time, only the last one has a duration.
    var start = max(0, first - 1)
    while start > 0, composition[Int(order[start - 1])] == media.lowerBound { start -= 1 }
    return order[start..<max(start, end)].lazy.map { Int($0) }
  }

  /// Returns the sample from which decoding must start to get the picture of `sample`: a sync sample before it
  /// in both orders, or the first sample. A picture that is decoded after a sync sample and presented before it
  /// may refer to the pictures before (open GOP).
  package func entry(for sample: Int) -> Int {
    guard let keys else { return sample }
    // Few pictures are decoded after a sync sample and presented before it.
    for key in keys[..<keys.place { $0 <= sample }].suffix(16).reversed() {
      if composition[key] <= composition[sample] { return key }
    }
    return 0
  }

  /// Returns the index of the sample with this decoding time at or after `first`, or `nil`.
  package func sample(decodedAt time: Int64, from first: Int) -> Int? {
    let place = max(first, decoding.place { $0 < time })
    return place < count && decoding[place] == time ? place : nil
  }
}
