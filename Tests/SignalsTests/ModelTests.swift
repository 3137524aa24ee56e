import UprightOrientation
import UprightSignals
import Testing
import UprightTestSupport

@Suite("Tracker and scanner match the standard's wording on random streams")
struct ModelTests {
  /// Applies the rule of the standard literally, picture by picture: the last message at or before
  /// this picture in output order, within its coded video sequence, if it persists that far.
  private func expected(_ playback: Playback) -> [DisplayOrientationSignal?] {
    let sequences = playback.sequences()
    let order = playback.outputOrder(sequences)
    return order.indices.map { place in
      let mine = sequences[order[place]]
      let last = order[...place].lastIndex {
        sequences[$0] == mine && playback.units[$0].message != nil
      }
      guard let last, case .set(let values, let period) = playback.units[order[last]].message,
        period > 0 || last == place
      else { return nil }
      return DisplayOrientationSignal(values)
    }
  }

  /// Returns sequences of mini-GOPs, one to eight pictures deep, decoded as a pyramid.
  private func randomStream(_ random: inout SeededGenerator) -> [SyntheticUnit] {
    var units: [SyntheticUnit] = []
    var pts = Int64.random(in: -1000...1000, using: &random)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      units.append(SyntheticUnit(kind: .idr, pts: pts, message: randomMessage(&random)))
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let depth = Int64.random(in: 1...8, using: &random)
        let step = Int64.random(in: 1...3, using: &random)
        units.append(
          SyntheticUnit(kind: .inter, pts: pts + depth * step, message: randomMessage(&random)))
        for between in (1..<depth).shuffled(using: &random) {
          units.append(
            SyntheticUnit(
              kind: .bidirectional, pts: pts + between * step, message: randomMessage(&random)))
        }
        pts += depth * step
      }
      pts += 3
    }
    return units
  }

  private func randomMessage(_ random: inout SeededGenerator) -> Message? {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .cancel
    case 1...3:
      .set(
        SEIDisplayOrientation(ImageOrientation.allCases.randomElement(using: &random) ?? .up),
        repetitionPeriod: [0, 1, 1, 5, 16384].randomElement(using: &random) ?? 1)
    default: nil
    }
  }

  @Test("Random reordering, messages and delays", arguments: Codec.allCases)
  func random(codec: Codec) {
    var random = SeededGenerator()
    for round in 0..<200 {
      let playback = Playback(
        codec: codec, wrapping: Wrapping.allCases[round % Wrapping.allCases.count],
        units: randomStream(&random))
      let wanted = expected(playback)
      let delay = Int.random(in: 0...20, using: &random)
      let isTracked = playback.track(delay: delay) == wanted
      #expect(isTracked, "tracker, round \(round), seed \(random.seed)")
      let isScanned = playback.scanned() == wanted
      #expect(isScanned, "scanner, round \(round), seed \(random.seed)")
    }
  }
}
