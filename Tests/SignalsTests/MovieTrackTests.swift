import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Tracks and sample entries of MP4 files")
struct MovieTrackTests {
  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    MovieWriter.box(type, content)
  }

  private static func movie(
    _ handler: String, _ entry: [UInt8], version: UInt8 = 0
  ) throws -> MovieTrack {
    let table = box(
      "stbl", box("stsd", [version, 0, 0, 0, 0, 0, 0, 1] + entry))
    let media = box(
      "mdia",
      box("hdlr", [UInt8](repeating: 0, count: 8) + Array(handler.utf8)) + box("minf", table))
    let header = box("tkhd", [UInt8](repeating: 0, count: 12) + [0, 0, 0, 7] + [0, 0, 0, 0])
    return try #require(MovieTrack.tracks(inMovie: box("trak", header + media)).first)
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func protection(_ scheme: String?) -> [UInt8] {
    box(
      "sinf",
      box("frma", Array("avc1".utf8))
        + (scheme.map { box("schm", zeros(4) + Array($0.utf8) + zeros(4)) } ?? []))
  }

  @Test("The boxes of video and audio entries, by the version of the entry and of the table")
  func boxes() throws {
    let child = Self.box("pasp", Self.zeros(8))
    let video = try Self.movie("vide", Self.box("avc1", Self.zeros(78) + child))
    #expect(video.identifier == 7 && video.handler == "vide")
    #expect(video.entries.first?.boxes.map(\.type) == ["pasp"])
    #expect(video.entries.first.map { Array($0.bytes(of: $0.boxes[0])) } == child)
    for (version, extra) in [(0, 0), (1, 16), (2, 36)] {
      let fields = Self.zeros(8) + [0, UInt8(version)] + Self.zeros(18 + extra)
      let audio = try Self.movie("soun", Self.box("mp4a", fields + child))
      #expect(audio.entries.first?.boxes.map(\.type) == ["pasp"], "\(version)")
    }
    let iso = Self.zeros(8) + [0, 1] + Self.zeros(18)
    let audio = try Self.movie("soun", Self.box("mp4a", iso + child), version: 1)
    #expect(audio.entries.first?.boxes.map(\.type) == ["pasp"])
    #expect(try Self.movie("text", Self.box("tx3g", Self.zeros(40))).entries.first?.boxes == [])
  }

  @Test(
    "The scheme of encrypted entries",
    arguments: [
      ("vide", "encv", "cenc", "cenc"), ("soun", "enca", "cbcs", "cbcs"),
      ("vide", "encv", nil, "encv"),
      ("vide", "drmi", "itun", "itun"), ("vide", "avc1", "cens", "cens"),
    ] as [(String, String, String?, String)])
  func schemes(_ handler: String, _ type: String, _ scheme: String?, _ expected: String) throws {
    let fields = Self.zeros(handler == "vide" ? 78 : 28)
    let track = try Self.movie(handler, Self.box(type, fields + Self.protection(scheme)))
    #expect(track.entries.first?.encryption == expected)
    let bare = try Self.movie(handler, Self.box("avc1", fields))
    #expect(bare.entries.first?.encryption == nil)
    #expect(
      try Self.movie("text", Self.box("enct", Self.zeros(8))).entries.first?.encryption == "enct")
  }

  @Test("pcmC names the samples' codec")
  func pcm() throws {
    for (type, flags, bits, name) in [
      ("ipcm", 1, 24, "pcm_s24le"), ("ipcm", 0, 16, "pcm_s16be"), ("fpcm", 1, 32, "pcm_f32le"),
      ("fpcm", 0, 64, "pcm_f64be"),
    ] {
      let box = Self.box("pcmC", Self.zeros(4) + [UInt8(flags), UInt8(bits)])
      let track = try Self.movie("soun", Self.box(type, Self.zeros(28) + box))
      #expect(track.entries.first?.pcm?.codecName == name)
    }
    let short = Self.box("pcmC", Self.zeros(5))
    #expect(
      try Self.movie("soun", Self.box("ipcm", Self.zeros(28) + short)).entries.first?.pcm == nil)
    #expect(try Self.movie("soun", Self.box("ipcm", Self.zeros(3))).entries.first?.pcm == nil)
  }

  @Test("Every truncation and every changed byte of an index is read without a trap")
  func hostile() throws {
    let entry = Self.box("encv", Self.zeros(78) + Self.protection("cenc"))
    let audio = Self.box("ipcm", Self.zeros(28) + Self.box("pcmC", Self.zeros(4) + [1, 24]))
    for (handler, entry) in [("vide", entry), ("soun", audio)] {
      let table = Self.box("stbl", Self.box("stsd", Self.zeros(7) + [1] + entry))
      let media = Self.box(
        "mdia", Self.box("hdlr", Self.zeros(8) + Array(handler.utf8)) + Self.box("minf", table))
      let movie = Self.box("trak", Self.box("tkhd", Self.zeros(20)) + media)
      var read = 0
      for length in movie.indices {
        for track in MovieTrack.tracks(inMovie: Array(movie[..<length])) {
          read += track.entries.count { $0.encryption != nil || $0.pcm != nil }
        }
        for value: UInt8 in [0, 1, 0x7F, 0xFF] {
          var changed = movie
          changed[length] = value
          for track in MovieTrack.tracks(inMovie: changed) {
            read += track.entries.count { $0.encryption != nil || $0.pcm != nil }
          }
        }
      }
      #expect(read > 0)
    }
  }
}
