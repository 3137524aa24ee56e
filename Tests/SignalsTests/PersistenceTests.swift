import UprightOrientation
import UprightSignals
import Testing
import UprightTestSupport

/// One stream in decoding order and the expected signal of each picture in output order.
struct PersistenceCase: CustomTestStringConvertible, Sendable {
  var name: String
  var decoding: String
  var presented: String
  var codecs = Codec.allCases
  var testDescription: String { name }
}

@Suite("Persistence of messages")
struct PersistenceTests {
  static let cases: [PersistenceCase] = [
    .init(name: "no message", decoding: "I0 P1 P2", presented: "---"),
    .init(name: "period 0: one picture", decoding: "I0=L0 P1 P2", presented: "L--"),
    .init(name: "period 1: persists", decoding: "I0=L1 P1 P2 P3", presented: "LLLL"),
    .init(
      name: "period 3 persists, even after three: the announced message was lost",
      decoding: "I0=L3 P1 P2 P3 P4 P5 P6 P7 P8", presented: "LLLLLLLLL"),
    .init(name: "period 3, and replaced", decoding: "I0=L3 P1=D3 P2 P3=x P4", presented: "LDD--"),
    .init(name: "cancel", decoding: "I0=L1 P1 P2=x P3", presented: "LL--"),
    .init(name: "cancel of nothing", decoding: "I0=x P1", presented: "--"),
    .init(name: "replaced", decoding: "I0=L1 P1 P2=D1 P3", presented: "LLDD"),
    .init(name: "0 degrees also replaces", decoding: "I0=L1 P1=U1 P2", presented: "LUU"),
    .init(
      name: "period 0 ends a previous one", decoding: "I0=L1 P1 P2=D0 P3 P4", presented: "LLD--"),
    .init(name: "starts late", decoding: "I0 P1 P2=R1 P3", presented: "--RR"),
    .init(
      name: "IPBB: on a P, in output order", decoding: "I0 P3=L1 B1 B2 P6 B4 B5",
      presented: "---LLLL"),
    .init(
      name: "IPBB: on a B, the P decoded before it is output after it",
      decoding: "I0 P3 B1 B2=L1 P6 B4 B5",
      presented: "--LLLLL"),
    .init(
      name: "IPBB: cancel on a P", decoding: "I0=L1 P3=x B1 B2 P6 B4 B5", presented: "LLL----"),
    .init(
      name: "IPBB: cancel on a B", decoding: "I0=L1 P3 B1 B2=x P6 B4 B5", presented: "LL-----"),
    .init(
      name: "IPBB: period 0 on a P", decoding: "I0 P3=D0 B1 B2 P6 B4 B5", presented: "---D---"),
    .init(
      name: "pyramid: replaced twice, decoded in the opposite order",
      decoding: "I0 P8=D1 B4 B2=L1 B1 B3 B6 B5 B7", presented: "--LLLLLLD"),
    .init(
      name: "period 0 on a B during a persistent one", decoding: "I0=L1 P3 B1=R0 B2 P6 B4 B5",
      presented: "LR-----"),
    .init(
      name: "a new sequence without a message", decoding: "I0=L1 P3 B1 B2 I4 P7 B5 B6",
      presented: "LLLL----"),
    .init(
      name: "a new sequence with a message", decoding: "I0=L1 P3 B1 B2 I4=D1 P7 B5 B6",
      presented: "LLLLDDDD"),
    .init(
      name: "a message in each sequence", decoding: "I0=L1 P1 I2=L1 P3 I4=L1", presented: "LLLLL"),
    .init(
      name: "every picture has a message", decoding: "I0=L0 P3=L0 B1=L0 B2=L0 I4=D0 P5=D0",
      presented: "LLLLDD"),
    .init(
      name: "an I picture that is not an IDR doesn't start a sequence", decoding: "I0=L1 P1 C2 P3",
      presented: "LLLL"),
    .init(
      name: "negative times", decoding: "I-6=L1 P-3 B-5 B-4=D1 I0 P1", presented: "LLDD--"),
    .init(
      name: "times restart with the next sequence: the previous one is ignored",
      decoding: "I0=L1 P1 P2 I0 P1=D1 P2", presented: "LLL-DD"),
    .init(
      name: "CRA: leading pictures keep the old message", decoding: "I0=L1 P1 C4=D1 S2 S3 P5",
      presented: "LLLLDD", codecs: [.hevc]),
    .init(
      name: "BLA starts a sequence", decoding: "I0=L1 P1 K2 P3", presented: "LL--", codecs: [.hevc]),
    .init(
      name: "CRA after an end of sequence starts one", decoding: "I0=L1 P1. C2 P3",
      presented: "LL--", codecs: [.hevc]),
    .init(
      name: "decodable leading pictures belong to the new sequence, before its message",
      decoding: "I0=L1 P1 I4=D1 D2 D3 P5", presented: "LL--DD", codecs: [.hevc]),
    .init(
      name: "decodable leading pictures with a message", decoding: "I0=L1 P1 I4=D1 D2=L1 D3 P5",
      presented: "LLLLDD", codecs: [.hevc]),
  ]

  @Test("Tables, for every decoder delay and every framing", arguments: cases)
  func tables(row: PersistenceCase) {
    for codec in row.codecs {
      for wrapping in Wrapping.allCases {
        let playback = Playback(codec: codec, wrapping: wrapping, units: stream(row.decoding))
        for delay in [0, 1, 4, 100] {
          let seen = playback.track(delay: delay).map(letter).joined()
          #expect(seen == row.presented, "\(codec) \(wrapping) delay \(delay)")
        }
        #expect(playback.scanned().map(letter).joined() == row.presented, "\(codec) scanned")
      }
    }
  }

  @Test("RASL pictures of a first CRA are never output, and their message is ignored")
  func skippedLeading() {
    for text in ["C4=D1 S2=L1 S3 P5", "I0 P1. C4=D1 S2=L1 S3 P5", "I0 P1 K4=D1 S2=L1 S3 P5"] {
      var tracker = DisplayOrientationTracker(codec: .hevc, configuration: [])
      for unit in stream(text) { tracker.read(unit.bytes(.hevc, .startCodes), pts: unit.pts) }
      #expect(letter(tracker.signal(at: 4)) == "D")
      #expect(letter(tracker.signal(at: 5)) == "D")
    }
    var tracker = DisplayOrientationTracker(codec: .hevc, configuration: [])
    for unit in stream("C4 S2=L1 S3 P5") {
      tracker.read(unit.bytes(.hevc, .startCodes), pts: unit.pts)
    }
    #expect(tracker.signal(at: 4) == nil)
  }

  @Test(
    "A message after the slices belongs to its own sample, and in a byte stream to the next picture",
    arguments: Codec.allCases, Wrapping.allCases)
  func lateMessages(codec: Codec, wrapping: Wrapping) {
    // With B-frames; the fourth picture in decoding order starts a sequence.
    let units = stream("I0=L1 P3=D0 B1 B2=x I4=R1 P5")
    var tracker = DisplayOrientationTracker(
      codec: codec, configuration: wrapping.configuration(codec))
    for unit in units {
      var parts = unit.units(codec)
      // Delimiter, message, slice.
      if unit.message != nil { parts.swapAt(1, 2) }
      tracker.read(wrapping.packet(parts), pts: unit.pts)
    }
    let seen = units.map(\.pts).sorted { ($0 ?? 0) < ($1 ?? 0) }.map {
      letter(tracker.signal(at: $0))
    }
    let isSample = ![Wrapping.startCodes, .shortStartCodes].contains(wrapping)
    // Of a byte stream's messages, L is of P3, D of B1 for one picture, the cancel of I4, R of P5.
    #expect(seen.joined() == (isSample ? "LL-DRR" : "-D-L-R"))
  }

  @Test("Without times, decoding order is used", arguments: Codec.allCases)
  func untimed(codec: Codec) {
    let units = stream("I_ P_=L1 P_ P_=x P_ I_=D0 P_ I_=R1")
    let expected = "-LL--D-R"
    // Queried without a time, and with times that no packet had.
    for times in [[Int64?](repeating: nil, count: 8), (0..<8).map { Int64($0) * 512 + 7 }] {
      var tracker = DisplayOrientationTracker(codec: codec, configuration: [])
      var seen = ""
      for (index, unit) in units.enumerated() {
        tracker.read(unit.bytes(codec, .startCodes), pts: nil)
        let first = letter(tracker.signal(at: times[index]))
        if times[index] != nil { #expect(letter(tracker.signal(at: times[index])) == first) }
        seen += first
      }
      #expect(seen == expected)
    }
    let playback = Playback(codec: codec, units: units)
    #expect(playback.scanned().map(letter).joined() == expected)
    #expect(playback.scan().runs.allSatisfy { $0.pts == nil })
  }

  @Test("A time that no packet had, between pictures with times")
  func betweenPictures() {
    var tracker = DisplayOrientationTracker(codec: .h264, configuration: [])
    for unit in stream("I10=L1 P20=D0 P30 P40=R1") {
      tracker.read(unit.bytes(.h264, .startCodes), pts: unit.pts)
    }
    #expect(tracker.signal(at: 5) == nil)
    #expect(letter(tracker.signal(at: 15)) == "L")
    #expect(letter(tracker.signal(at: 20)) == "D")
    #expect(tracker.signal(at: 25) == nil)
    #expect(letter(tracker.signal(at: 45)) == "R")
    #expect(letter(tracker.signal(at: 45)) == "R")
    #expect(letter(tracker.signal(at: nil)) == "R")
  }

  @Test("Times that jump back within a sequence keep the current signal")
  func jump() {
    let playback = stream("I1000=L1 P1001 P5 P6=D1 P7")
    var tracker = DisplayOrientationTracker(codec: .h264, configuration: [])
    var seen = ""
    for unit in playback {
      tracker.read(unit.bytes(.h264, .startCodes), pts: unit.pts)
      seen += letter(tracker.signal(at: unit.pts))
    }
    #expect(seen == "LLLDD")
  }

  @Test("Messages of skipped pictures apply; a repeated query changes nothing")
  func asking() {
    var tracker = DisplayOrientationTracker(codec: .h264, configuration: [])
    #expect(tracker.signal(at: 0) == nil)
    #expect(tracker.signal(at: nil) == nil)
    for unit in stream("I0=L1 P3=D1 B1 B2 P4=R0 P5") {
      tracker.read(unit.bytes(.h264, .startCodes), pts: unit.pts)
    }
    for _ in 0..<3 { #expect(letter(tracker.signal(at: 1)) == "L") }
    for _ in 0..<3 { #expect(letter(tracker.signal(at: 4)) == "R") }
    for _ in 0..<3 { #expect(tracker.signal(at: 5) == nil) }
  }

  @Test("The timeline is a list of runs")
  func timeline() {
    let timeline = Playback(codec: .h264, units: stream("I0=L1 P3 B1 B2 P4=x P5 I6=D1")).scan()
    #expect(timeline.pictureCount == 7)
    #expect(timeline.hasSignals)
    #expect(timeline.runs.map(\.index) == [0, 4, 6])
    #expect(timeline.runs.map(\.pts) == [0, 4, 6])
    #expect(timeline.runs.map { letter($0.signal) } == ["L", "-", "D"])
    #expect(timeline.runs.first?.signal?.isExact == true)
    #expect(!Playback(codec: .h264, units: stream("I0 P1")).scan().hasSignals)
    #expect(DisplayOrientationScanner(codec: .hevc, configuration: []).finish() == SignalTimeline())
  }

  @Test("Angles between quarter turns round to the nearest and are marked inexact")
  func inexact() {
    let values = SEIDisplayOrientation(
      horizontalFlip: false, verticalFlip: false, anticlockwiseRotation: 16000)
    let unit = SyntheticUnit(
      kind: .idr, pts: 0, message: .set(values, repetitionPeriod: 1))
    var tracker = DisplayOrientationTracker(codec: .h264, configuration: [])
    tracker.read(unit.bytes(.h264, .startCodes), pts: 0)
    let signal = tracker.signal(at: 0)
    #expect(signal?.orientation == .left)
    #expect(signal?.isExact == false)
    #expect(signal?.values == values)
  }
}
