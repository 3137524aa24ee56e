import Testing
import UprightRTMP

@testable import UprightService

/// Checks what changes a value, which `#expect` can't.
private func expect(_ isTrue: Bool, at place: SourceLocation = #_sourceLocation) {
  #expect(isTrue, sourceLocation: place)
}

@Suite("What a publisher has sent since its newest keyframe")
struct PublisherReplayTests {
  private static let metadata: [UInt8] = [2, 0, 10] + Array("onMetaData".utf8) + [8, 0, 0, 0, 0]

  private static func tag(
    _ kind: FLVTag.Kind, _ payload: [UInt8], at time: UInt32 = 0
  ) -> [UInt8] { FLVTag(kind, timestamp: time, payload: payload).bytes }

  /// H.264 and AAC: descriptions, keyframes, other frames and audio.
  private static let descriptions = [
    tag(.script, metadata), tag(.video, [0x17, 0, 0, 0, 0, 1]), tag(.audio, [0xAF, 0, 0x12]),
  ]
  private static func key(_ time: UInt32) -> [UInt8] { tag(.video, [0x17, 1, 0, 0, 0], at: time) }
  private static func other(_ time: UInt32) -> [UInt8] {
    tag(.video, [0x27, 1, 0, 0, 0], at: time)
  }
  private static func sound(_ time: UInt32) -> [UInt8] { tag(.audio, [0xAF, 1, 7], at: time) }

  private static func replay(_ tags: [[UInt8]]) -> PublisherReplay {
    var replay = PublisherReplay()
    replay.begin()
    for tag in tags { expect(replay.add(tag)) }
    return replay
  }

  @Test("It begins with the descriptions and the newest keyframe")
  func newest() {
    let first = [Self.key(0), Self.other(40), Self.sound(50)]
    let second = [Self.key(80), Self.sound(90), Self.other(120)]
    var replay = Self.replay(Self.descriptions + first + second)
    expect(replay.restarted(skipping: false) == Self.descriptions + second)
    expect(replay.first == 6 && replay.seconds == 0.04)
  }

  @Test("It begins when its keyframe is shown, which is later than it is decoded")
  func reordered() {
    let key = Self.tag(.video, [0x17, 1, 0, 0, 67], at: 100)
    #expect(Self.replay([key, Self.other(133), Self.other(200)]).seconds == 0.033)
    #expect(Self.replay([key]).seconds == -0.067)
    let hevc = Self.tag(.video, [0x91] + Array("hvc1".utf8) + [0, 0, 40, 1], at: 10)
    #expect(Self.replay([hevc, Self.other(60)]).seconds == 0.01)
    let prompt = Self.tag(.video, [0x93] + Array("hvc1".utf8) + [0, 0, 40, 1], at: 10)
    #expect(Self.replay([prompt, Self.other(60)]).seconds == 0.05)
  }

  @Test("Extended tags of HEVC and of a new description are recognised")
  func extended() {
    let start = Self.tag(.video, [0x90] + Array("hvc1".utf8) + [1])
    let key = Self.tag(.video, [0x91] + Array("hvc1".utf8), at: 10)
    let other = Self.tag(.video, [0xA1] + Array("hvc1".utf8), at: 20)
    var replay = Self.replay([start, key, other, start, key])
    expect(replay.restarted(skipping: false) == [start, key])
  }

  @Test("Of several tracks, the first has the keyframes")
  func tracks() {
    let code = Array("hvc1".utf8)
    func tag(_ head: UInt8, _ type: UInt8, track: UInt8, at time: UInt32) -> [UInt8] {
      Self.tag(.video, [head, type] + code + [track, 1, 2], at: time)
    }
    let first = [tag(0x96, 0, track: 0, at: 0), tag(0x96, 1, track: 0, at: 10)]
    let second = [tag(0x96, 0, track: 1, at: 11), tag(0x96, 1, track: 1, at: 12)]
    let sound = Self.tag(.audio, [0x95, 0x10] + Array("Opus".utf8) + [0, 0, 0, 1, 9])
    var replay = Self.replay([sound] + first + second)
    expect(replay.restarted(skipping: false) == [first[0], sound, first[1]] + second)
  }

  @Test("After ten seconds or 8 MiB without a keyframe, another worker begins at the next one")
  func limits() {
    for tags in [
      [Self.key(0), Self.other(10_001)],
      [Self.key(0), Self.tag(.video, [0x27, 1] + [UInt8](repeating: 0, count: 9 << 20), at: 5)],
    ] {
      var replay = Self.replay(Self.descriptions + tags)
      // The worker that runs goes on.
      expect(replay.add(Self.other(10_040)))
      expect(replay.restarted(skipping: false) == Self.descriptions)
      expect(!replay.add(Self.other(10_080)) && !replay.add(Self.sound(10_090)))
      expect(replay.add(Self.key(10_120)) && replay.add(Self.other(10_160)))
      expect(
        replay.restarted(skipping: false)
          == Self.descriptions + [Self.key(10_120), Self.other(10_160)])
    }
  }

  @Test("What workers have died of is left out")
  func skipping() {
    var replay = Self.replay(Self.descriptions + [Self.key(0), Self.other(40)])
    expect(replay.restarted(skipping: true) == Self.descriptions)
    expect(!replay.add(Self.other(80)) && replay.add(Self.key(120)))
    expect(replay.first == 6)
  }

  @Test("Another publisher begins anew")
  func another() {
    var replay = Self.replay(Self.descriptions + [Self.key(0)])
    replay.begin()
    expect(replay.restarted(skipping: false).isEmpty)
  }

  @Test("Bytes are divided into tags; what is no tag is left out")
  func division() {
    let tags = Self.descriptions + [Self.key(0), Self.sound(1 << 24)]
    expect(FLVTag.tags(of: Array(tags.joined())) == tags)
    expect(FLVTag.tags(of: Array(tags.joined()) + [9, 0xFF, 0xFF, 0xFF]) == tags)
    expect(
      FLVTag.tags(of: [9, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 20)) == [])
    // A tag without data.
    var replay = PublisherReplay()
    for kind: UInt8 in [8, 9, 18, 31] {
      let empty = [kind] + [UInt8](repeating: 0, count: 14)
      for tag in FLVTag.tags(of: empty) { expect(replay.add(tag)) }
    }
  }
}

@Suite("Deaths of workers")
struct WorkerDeathsTests {
  @Test("Three at the same place are too many, wherever else others were")
  func places() {
    var deaths = WorkerDeaths()
    for (place, taken, count) in [
      (1000, 1000, 1), (1064, 500, 2), (2000, 900, 1), (2010, 30, 2), (9000, 64, 3),
    ] {
      deaths.add(at: place, taken: taken, life: .seconds(1))
      #expect(deaths.count == count, "\(place)")
    }
  }

  @Test("A worker that has lived for a minute has gone on")
  func life() {
    var deaths = WorkerDeaths()
    for _ in 0..<5 { deaths.add(at: 0, taken: 0, life: .seconds(61)) }
    #expect(deaths.count == 1)
  }
}
