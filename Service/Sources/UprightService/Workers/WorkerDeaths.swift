/// The deaths of a session's workers, one after another.
struct WorkerDeaths {
  private var place: Int?
  /// The number of deaths in a row at the same place of the input.
  private(set) var count = 0

  /// Deaths within this number of packets are at the same place.
  private static let distance = 64
  /// A worker that has lived this long has gone on.
  private static let longLife = Duration.seconds(60)
  /// The number of deaths at one place after which the session has failed.
  static let limit = 3

  /// Records a death.
  ///
  /// - Parameters:
  ///   - place: The number of packets of the input before it, over all workers.
  ///   - taken: The number of packets that this worker took.
  ///   - life: How long it lived.
  mutating func add(at place: Int, taken: Int, life: Duration) {
    let isNear = self.place.map { abs(place - $0) <= Self.distance } ?? false
    let isSame = isNear || taken <= Self.distance
    count = isSame && life < Self.longLife ? count + 1 : 1
    self.place = place
  }
}
