#if DEBUG
import UprightOrientation
import UprightPolicy

@testable import UprightMedia
@testable import UprightFiles
@testable import UprightLive
@testable import UprightMediaIO
@testable import UprightSignals

extension FuzzTarget {
  /// All code that computes with timestamps, at the limits of what a file or a publisher can
  /// contain.
  static let times = FuzzTarget("times") { bytes in
    var input = FuzzInput(bytes)
    switch input.byte() % 8 {
    case 0: try packets(&input)
    case 1: try frames(&input)
    case 2: try liveClock(&input)
    case 3: try plan(&input)
    case 4: try conversions(&input)
    case 5: try decodingTimes(&input)
    case 6: mediaClock(&input)
    default: playlists(&input)
    }
  }

  private static func timeBase(_ input: inout FuzzInput) -> Rational {
    input.choice([
      Rational(1, 1000), Rational(1, 90_000), Rational(1, 1_000_000_000), Rational(1001, 30_000),
      Rational(1, Int(Int32.max)), Rational(Int(Int32.max), 1),
    ])
  }

  private static func time(_ input: inout FuzzInput) -> MediaTime {
    let timeBase = timeBase(&input)
    return MediaTime(input.ticks(), timeBase)
  }

  private static func packet(_ input: inout FuzzInput, _ timeBase: Rational) throws -> Packet {
    var packet = try Packet()
    packet.timeBase = timeBase
    if input.flag() { packet.pts = input.ticks() }
    if input.flag() { packet.dts = input.ticks() }
    packet.duration = input.ticks()
    packet.isKey = input.flag()
    return packet
  }

  /// Packets of two tracks: joined, interleaved and put into order.
  private static func packets(_ input: inout FuzzInput) throws {
    let bases = [timeBase(&input), timeBase(&input)]
    let output = timeBase(&input)
    var joined = input.flag() ? ClockJoiner(start: 0) : nil
    let interleaver = PacketInterleaver(
      awaited: [true, true], cutsAtKeys: input.flag(), isGapless: input.flag())
    var fits = [DecodingTimestamps(), DecodingTimestamps()]
    var last: [Int64] = [.min, .min]
    func check(_ item: consuming PacketInterleaver.Item) throws {
      let track = item.track
      var packet = item.takePacket()
      packet.rescale(to: output)
      fits[track].fit(&packet)
      guard let dts = packet.dts else { return }
      try expect(dts > last[track], "\(dts) after \(last[track])")
      try expect(packet.pts.map { $0 >= dts } ?? true, "a frame presented before it is decoded")
      last[track] = dts
    }
    while !input.isEmpty {
      let track = Int(input.byte() & 1)
      var packet = try packet(&input, bases[track])
      packet.streamIndex = track
      packet.dropImplausibleTimes()
      joined?.fit(&packet)
      interleaver.add(packet, track: track, format: nil, isVideo: track == 0)
      while let item = interleaver.next() { try check(item) }
    }
    interleaver.end(track: 0)
    interleaver.end(track: 1)
    while let item = interleaver.next() { try check(item) }
  }

  /// Decoded frames, whose timestamps are repaired and counted.
  private static func frames(_ input: inout FuzzInput) throws {
    let timeBase = timeBase(&input)
    var repair = TimestampRepair(
      timeBase: timeBase,
      frameRate: input.flag() ? Rational(Int(input.integer(Int32.self)), 1 << 30) : nil)
    var tally = FrameTally(timeBase: timeBase)
    var steps = Steps<Int>()
    var last: Int64?
    while !input.isEmpty {
      var frame = try VideoFrame()
      if input.flag() { frame.pts = input.ticks() }
      frame.duration = input.ticks()
      let following = repair.isDoubtful(frame) && input.flag() ? input.ticks() : nil
      repair.repair(&frame, next: following)
      let pts = frame.pts ?? .min
      try expect(last.map { pts > $0 } ?? (frame.pts != nil), "\(pts) after \(last ?? 0)")
      last = pts
      tally.end(frame)
      steps.set(1, from: pts.firstTick(of: Rational(1, 1000), from: timeBase))
      _ = steps.value(at: pts)
    }
    _ = tally.duration
  }

  /// A publisher's timestamps with an increasing wall clock.
  private static func liveClock(_ input: inout FuzzInput) throws {
    var clock = LiveClock(frameRate: input.double())
    var backlog = LiveBacklog()
    var wall: Int64 = 0
    var last = Int64.min
    while !input.isEmpty {
      wall += Int64(input.integer(UInt32.self))
      var time: Int64?
      switch input.byte() & 7 {
      case 0: clock.lose()
      case 1: time = clock.repeatTime(wall: wall)
      case 2: _ = clock.audioTime(input.ticks(), duration: input.ticks(), wall: wall)
      case 3: time = clock.frameTime(nil, wall: wall)
      default: time = clock.frameTime(input.ticks(), wall: wall)
      }
      guard let time else { continue }
      try expect(time > last, "\(time) after \(last)")
      last = time
      _ = backlog.answer(
        behind: max(0, wall.subtractingReportingOverflow(time).partialValue), wall: wall)
    }
  }

  /// Events and frames at any second.
  private static func plan(_ input: inout FuzzInput) throws {
    var document = PolicyDocument()
    document.transition = Transition(
      style: input.choice(Transition.Style.allCases), duration: input.double())
    guard var plan = try? OrientationPlan(document) else { return }
    var feed: [RotationEvent] = []
    while !input.isEmpty {
      let seconds = input.double()
      switch input.byte() & 7 {
      case 0: plan.advance(to: seconds)
      case 1: plan.forget(before: seconds)
      case 2: _ = plan.takeFormats(before: seconds)
      case 3:
        let point = plan.timeline.point(at: seconds)
        let progress = point.turn?.progress(at: seconds) ?? 0
        try expect((0..<1).contains(progress) || seconds.isNaN, "a progress of \(progress)")
      case 4:
        let gravity = RotationEvent.Action.gravity(
          x: input.double(), y: input.double(), z: input.double())
        _ = try? plan.push(RotationEvent(at: seconds, gravity))
      default:
        let event = RotationEvent(at: seconds, .device(input.choice(DeviceOrientation.allCases)))
        if (try? plan.push(event)) != nil { feed.append(event) }
      }
    }
    plan.finish()
    for entry in plan.entries { _ = entry.explanation }
    var events = EventQueue(.list(feed), offset: input.double())
    _ = try events.take(upTo: input.double())
    _ = try events.takeRest()
    _ = plan.json.compact
  }

  /// Conversions from seconds to ticks and between time bases.
  private static func conversions(_ input: inout FuzzInput) throws {
    while !input.isEmpty {
      let base = Rational(Int(input.integer(Int32.self)), Int(input.integer(Int32.self)))
      let ticks = base.ticks(in: input.double())
      try expect(Int64.plausibleTicks.contains(ticks), "\(ticks)")
      let other = Rational(Int(input.ticks()), Int(input.ticks()))
      _ = input.ticks().rescaled(from: base, to: other)
      _ = input.ticks().firstTick(of: other, from: base)
      try expect(other.denominator > 0, "\(other)")
      _ = (other.inverted, other.asSampleAspectRatio)
      try arithmetic(MediaTime(input.ticks(), base), MediaTime(input.ticks(), other))
    }
  }

  private static func arithmetic(_ a: MediaTime, _ b: MediaTime) throws {
    try expect(a + b == b + a, "\(a) + \(b)")
    try expect((a - b > .zero) == (a > b) || a - b == .zero, "\(a) - \(b)")
    try expect(a != b || a.hashValue == b.hashValue, "\(a) and \(b)")
    _ = (-a, a * Int(clamping: b.ticks), a / Int(clamping: b.ticks), a.seconds)
    let (up, down) = (a.roundedUp(to: b.timeBase), a.roundedDown(to: b.timeBase))
    try expect(up.ticks == .max || up >= a, "\(a) rounded up to \(up)")
    try expect(down.ticks == .min || down <= a, "\(a) rounded down to \(down)")
  }

  /// Copied packets from a container without decoding times.
  private static func decodingTimes(_ input: inout FuzzInput) throws {
    let base = timeBase(&input)
    let fill = DecodingTimeGenerator(
      timeBase: base, frameRate: input.flag() ? Rational(Int(input.integer(Int32.self)), 1) : nil)
    func check(_ packet: consuming Packet) {
      var packet = packet
      packet.rescale(to: Rational(1, 90_000))
    }
    while !input.isEmpty {
      var packet = try packet(&input, base)
      packet.dropImplausibleTimes()
      try fill.process(packet, emit: check)
    }
    try fill.finish(check)
  }

  /// RTP timestamps, with packets in order of arrival time.
  private static func mediaClock(_ input: inout FuzzInput) {
    var clock = MediaClock(rate: Int(input.integer(Int32.self)))
    var arrival: Int64 = 0
    while !input.isEmpty {
      arrival += Int64(input.integer(UInt32.self))
      _ = clock.ticks(
        of: input.integer(), arrival: input.flag() ? arrival : nil, isRestart: input.flag())
    }
  }

  private static func playlists(_ input: inout FuzzInput) {
    var whole = MediaPlaylist(
      targetDuration: MediaTime(6, .one), date: CalendarTime(seconds: 0))
    var live = LivePlaylist(segmentDuration: MediaTime(6, .one))
    // Only a few: formatting dates is slow.
    for _ in 0..<3 {
      let (duration, start) = (time(&input), time(&input))
      whole.add(segment: "s", duration: duration, start: start)
      live.add(segment: "s", duration: duration, start: start)
    }
    _ = (whole.text, live.text)
  }
}
#endif
