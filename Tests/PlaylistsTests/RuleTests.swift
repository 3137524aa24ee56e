import Testing

@testable import UprightPlaylists

/// Each rule is violated by a playlist that is made wrong for it. Costs nothing.
@Suite("Rules of playlists") struct RuleTests {
  static let live = """
    #EXTM3U
    #EXT-X-VERSION:9
    #EXT-X-TARGETDURATION:2
    #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12,HOLD-BACK=6,PART-HOLD-BACK=3.0
    #EXT-X-PART-INF:PART-TARGET=1.0
    #EXT-X-MEDIA-SEQUENCE:5
    #EXT-X-DISCONTINUITY-SEQUENCE:1
    #EXT-X-INDEPENDENT-SEGMENTS
    #EXT-X-MAP:URI="i-0.mp4"
    #EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05.000Z
    #EXTINF:2.000000,
    5.m4s
    #EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:07.000Z
    #EXTINF:2.000000,
    6.m4s
    #EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:09.000Z
    #EXTINF:2.000000,
    7.m4s
    #EXT-X-DISCONTINUITY
    #EXT-X-MAP:URI="i-1.mp4"
    #EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:11.000Z
    #EXT-X-PART:DURATION=1.000000,URI="8.0.m4s",INDEPENDENT=YES
    #EXT-X-PART:DURATION=1.000000,URI="8.1.m4s"
    #EXTINF:2.000000,
    8.m4s
    #EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:13.000Z
    #EXT-X-PART:DURATION=1.000000,URI="9.0.m4s",INDEPENDENT=YES
    #EXT-X-PRELOAD-HINT:TYPE=PART,URI="9.1.m4s"
    #EXT-X-RENDITION-REPORT:URI="other.m3u8",LAST-MSN=9,LAST-PART=0

    """

  /// What `live` is after one more part and segment.
  static let next = live.replacing(
    "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"9.1.m4s\"\n",
    with: """
      #EXT-X-PART:DURATION=1.000000,URI="9.1.m4s"
      #EXTINF:2.000000,
      9.m4s
      #EXT-X-PRELOAD-HINT:TYPE=PART,URI="10.0.m4s"

      """
  ).replacing("MEDIA-SEQUENCE:5", with: "MEDIA-SEQUENCE:6").replacing(
    "#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:05.000Z\n#EXTINF:2.000000,\n5.m4s\n", with: "")

  static let delta = live.replacing(
    "#EXT-X-INDEPENDENT-SEGMENTS\n",
    with: "#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n"
  ).replacing("CAN-SKIP-UNTIL=12", with: "CAN-SKIP-UNTIL=2")

  static let master = """
    #EXTM3U
    #EXT-X-INDEPENDENT-SEGMENTS
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="a.m3u8"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="German",AUTOSELECT=YES,URI="b.m3u8"
    #EXT-X-STREAM-INF:BANDWIDTH=2000,AVERAGE-BANDWIDTH=1500,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=720x1280,FRAME-RATE=30.000,AUDIO="a"
    v.m3u8
    #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=500,URI="i.m3u8"
    #EXT-X-SESSION-DATA:DATA-ID="title",VALUE="A"

    """

  private static func violations(_ texts: String...) -> [PlaylistViolation] {
    var checker = PlaylistChecker()
    var found: [PlaylistViolation] = []
    for text in texts { found = checker.check(text) }
    return found
  }

  @Test("Correct playlists and reloads have no violation")
  func correct() {
    let whole = live("#EXT-X-ENDLIST\n", Self.next, hint: "10.0")
    for found in [
      Self.violations(Self.live), Self.violations(Self.live, Self.live),
      Self.violations(Self.live, Self.next), Self.violations(Self.next, whole),
      Self.violations(Self.master),
      Self.violations(
        "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,title, with a comma\na.ts\n#EXT-X-ENDLIST"),
      Self.violations("#EXTM3U\r\n#EXT-X-TARGETDURATION:3\r\n#EXTINF:3,\r\na.ts\r\n"),
    ] {
      #expect(found.isEmpty, "\(found)")
    }
  }

  /// Replaces a hint by `tail`.
  private func live(_ tail: String, _ text: String, hint: String) -> String {
    text.replacing("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(hint).m4s\"\n", with: tail)
  }

  /// A rule, a correct text, what is replaced in it, and by what.
  static let wrong: [(rule: String, text: String, old: String, new: String)] = [
    ("header", live, "#EXTM3U\n", "#EXTM3U8\n"), ("header", live, "#EXTM3U\n", "\n#EXTM3U\n"),
    ("characters", live, "7.m4s", "7\u{1}.m4s"), ("characters", live, "#EXTM3U", "\u{FEFF}#EXTM3U"),
    ("one-kind", live, "5.m4s\n", "5.m4s\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a\"\nx.m3u8\n"),
    ("one-kind", "#EXTM3U\n#EXT-X-VERSION:3\n", "3", "4"),
    ("once", live, "#EXT-X-VERSION:9\n", "#EXT-X-VERSION:9\n#EXT-X-VERSION:9\n"),
    ("attributes", live, "URI=\"8.1.m4s\"", "URI=\"8.1.m4s"),
    ("attributes", live, "LAST-MSN=9,", "LAST-MSN=9,LAST-MSN=9,"),
    ("attributes", live, "LAST-MSN=9,", "last-msn=9,"), ("attributes", live, "LAST-PART=0", ""),
    ("attributes", live, "PART-TARGET=1.0", "PART-TARGET="),
    ("numbers", live, "MEDIA-SEQUENCE:5", "MEDIA-SEQUENCE:-5"),
    ("numbers", live, "TARGETDURATION:2", "TARGETDURATION:2.5"),
    ("numbers", live, "DISCONTINUITY-SEQUENCE:1", "DISCONTINUITY-SEQUENCE:"),
    ("version", live, "VERSION:9", "VERSION:5"), ("version", delta, "VERSION:9", "VERSION:8"),
    ("start", live, "#EXT-X-INDEP", "#EXT-X-START:PRECISE=YES\n#EXT-X-INDEP"),
    ("uri-lines", live, "7.m4s\n", "7.m4s\n7b.m4s\n"), ("uri-lines", live, "8.m4s\n", ""),
    ("uri-lines", master, "v.m3u8\n", ""),
    ("target-duration", live, "#EXT-X-TARGETDURATION:2\n", ""),
    ("target-duration", live, "#EXTINF:2.000000,\n7", "#EXTINF:2.500000,\n7"),
    ("sequence-first", live, "5.m4s\n", "5.m4s\n#EXT-X-MEDIA-SEQUENCE:6\n"),
    ("playlist-type", live, "#EXT-X-INDEP", "#EXT-X-PLAYLIST-TYPE:LIVE\n#EXT-X-INDEP"),
    ("end", live, "#EXT-X-RENDITION", "#EXT-X-ENDLIST\n#EXT-X-RENDITION"),
    ("date-range", live, "#EXT-X-INDEP", "#EXT-X-DATERANGE:ID=\"a\"\n#EXT-X-INDEP"),
    ("date-range", live, "#EXT-X-INDEP", "#EXT-X-DATERANGE:CLASS=\"a\"\n#EXT-X-INDEP"),
    ("extinf", live, "#EXTINF:2.000000,\n6", "#EXTINF:2.000000\n6"),
    ("extinf", live, "#EXTINF:2.000000,\n6", "#EXTINF:-2,\n6"),
    ("extinf", live, "#EXTINF:2.000000,\n6", "#EXTINF:1e3,\n6"),
    ("byte-range", live, "6.m4s", "#EXT-X-BYTERANGE:100\n6.m4s"),
    ("byte-range", live, "6.m4s", "#EXT-X-BYTERANGE:100@\n6.m4s"),
    ("map", live, "#EXT-X-MAP:URI=\"i-0.mp4\"", "#EXT-X-MAP:BYTERANGE=\"1@0\""),
    ("map-of-fragments", live, "#EXT-X-MAP:URI=\"i-0.mp4\"\n", ""),
    ("key", live, "#EXT-X-INDEP", "#EXT-X-KEY:URI=\"k\"\n#EXT-X-INDEP"),
    ("key", live, "#EXT-X-INDEP", "#EXT-X-KEY:METHOD=AES-128\n#EXT-X-INDEP"),
    ("key", live, "#EXT-X-INDEP", "#EXT-X-KEY:METHOD=NONE,URI=\"k\"\n#EXT-X-INDEP"),
    ("date", live, "03:04:07.000Z", "03:04:07.000"), ("date", live, "2026-01-02T03:04:07", "soon"),
    ("date-order", live, "03:04:09.000Z", "03:04:06.000Z"),
    ("date-order", live, "03:04:09.000Z", "04:04:09.000+02:00"),
    (
      "date-at-discontinuity", live, "#EXT-X-PROGRAM-DATE-TIME:2026-01-02T03:04:11.000Z\n", ""
    ),
    ("part-inf", live, "#EXT-X-PART-INF:PART-TARGET=1.0\n", ""),
    ("part", live, "DURATION=1.000000,URI=\"8.1.m4s\"", "DURATION=1.000000"),
    ("part", live, "DURATION=1.000000,URI=\"8.1.m4s\"", "URI=\"8.1.m4s\""),
    ("part-longest", live, "DURATION=1.000000,URI=\"9.0", "DURATION=1.000001,URI=\"9.0"),
    (
      "part-shortest", live, "#EXT-X-PART:DURATION=1.000000,URI=\"8.1.m4s\"\n",
      "#EXT-X-PART:DURATION=0.5,URI=\"8.1.m4s\"\n#EXT-X-PART:DURATION=0.5,URI=\"8.2.m4s\"\n"
    ),
    ("part-sum", live, "DURATION=1.000000,URI=\"8.1", "DURATION=0.900000,URI=\"8.1"),
    (
      "part-tags", live, "#EXTINF:2.000000,\n8.m4s",
      "#EXT-X-DISCONTINUITY\n#EXTINF:2.000000,\n8.m4s"
    ),
    ("part-independent", live, "URI=\"9.0.m4s\",INDEPENDENT=YES", "URI=\"9.0.m4s\""),
    (
      "part-old", live, "#EXTINF:2.000000,\n5.m4s",
      "#EXT-X-PART:DURATION=1.0,URI=\"5.0.m4s\",INDEPENDENT=YES\n"
        + "#EXT-X-PART:DURATION=1.0,URI=\"5.1.m4s\"\n#EXTINF:2.000000,\n5.m4s\n"
        + "#EXTINF:2.000000,\n5b.m4s"
    ),
    ("hold-back", live, ",HOLD-BACK=6", ",HOLD-BACK=5.9"),
    ("part-hold-back", live, ",PART-HOLD-BACK=3.0", ""),
    ("part-hold-back", live, "PART-HOLD-BACK=3.0", "PART-HOLD-BACK=1.9"),
    ("part-hold-back-three", live, "PART-HOLD-BACK=3.0", "PART-HOLD-BACK=2.9"),
    ("skip-boundary", live, "CAN-SKIP-UNTIL=12", "CAN-SKIP-UNTIL=11"),
    ("skip-boundary", live, "CAN-SKIP-UNTIL=12", "CAN-SKIP-DATERANGES=YES"),
    ("skip", delta, ",CAN-SKIP-UNTIL=2", ""), ("skip", delta, "=2,HOLD", "=12,HOLD"),
    ("skip", delta, "SKIPPED-SEGMENTS=3", "RECENTLY-REMOVED-DATERANGES=\"\""),
    ("preload-hint", live, "TYPE=PART,", ""), ("preload-hint", live, "TYPE=PART,", "TYPE=KEY,"),
    ("preload-hint", live, "URI=\"9.1.m4s\"", "URI=\"9.0.m4s\""),
    (
      "preload-hint", live, "#EXT-X-RENDITION",
      "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"9.2.m4s\"\n#EXT-X-RENDITION"
    ),
    ("rendition-report", live, "URI=\"other.m3u8\",", ""),
    ("rendition-report", live, "LAST-MSN=9,", ""),
    ("rendition-report-part", live, ",LAST-PART=0", ""),
    ("live-type", live, "#EXT-X-INDEP", "#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-INDEP"),
    ("bandwidth", master, "BANDWIDTH=2000,", ""), ("bandwidth", master, "=1500", "=2500"),
    ("codecs", master, "CODECS=\"avc1.64001f,mp4a.40.2\",", ""),
    ("resolution", master, "720x1280", "720X1280"), ("resolution", master, "30.000", "0"),
    ("rendition", master, "TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"German\"", "TYPE=AUDIO,GROUP-ID=\"a\""),
    (
      "rendition", master, "TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"G",
      "TYPE=SOUND,GROUP-ID=\"a\",NAME=\"G"
    ),
    ("rendition-group", master, "German", "English"),
    ("rendition-group", master, "\"German\"", "\"German\",DEFAULT=YES"),
    ("rendition-group", master, "DEFAULT=YES,AUTOSELECT=YES", "DEFAULT=YES,AUTOSELECT=NO"),
    ("group-reference", master, "AUDIO=\"a\"", "AUDIO=\"b\""),
    ("i-frame-uri", master, ",URI=\"i.m3u8\"", ""),
    ("session-data", master, ",VALUE=\"A\"", ""),
    ("session-data", master, "DATA-ID=\"title\",", ""),
  ]

  @Test("Each playlist that is made wrong is found")
  func table() {
    for (rule, text, old, new) in Self.wrong {
      #expect(text.contains(old), "\(rule): \(old)")
      let found = Self.violations(text.replacing(old, with: new, maxReplacements: 1))
      #expect(found.contains { $0.rule.name == rule }, "\(rule), \(old) -> \(new): \(found)")
    }
  }

  /// A rule, what is replaced in `next`, and by what. The playlist before is `live`.
  static let wrongReloads: [(rule: String, old: String, new: String)] = [
    ("sequence-forward", "MEDIA-SEQUENCE:6", "MEDIA-SEQUENCE:4"),
    ("same-segments", "7.m4s", "7b.m4s"), ("same-segments", "2.000000,\n7", "1.900000,\n7"),
    ("same-segments", "MEDIA-SEQUENCE:6", "MEDIA-SEQUENCE:5"),
    ("same-segments", "i-1.mp4", "i-2.mp4"), ("same-segments", "03:04:09", "03:04:09.5"),
    ("same-discontinuities", "#EXT-X-DISCONTINUITY\n", ""),
    ("same-discontinuities", "DISCONTINUITY-SEQUENCE:1", "DISCONTINUITY-SEQUENCE:2"),
    ("discontinuity-forward", "DISCONTINUITY-SEQUENCE:1", "DISCONTINUITY-SEQUENCE:0"),
    ("target-constant", "TARGETDURATION:2", "TARGETDURATION:3"),
    ("long-enough", "#EXTINF:2.000000,\n9.m4s\n", "#EXTINF:0.1,\n9.m4s\n"),
    ("same-parts", "8.1.m4s", "8.x.m4s"),
    ("same-parts", "#EXT-X-PART:DURATION=1.000000,URI=\"8.1.m4s\"\n", ""),
    ("part-target-constant", "PART-TARGET=1.0", "PART-TARGET=1.1"),
    ("hint-kept", "URI=\"9.1.m4s\"", "URI=\"9.z.m4s\""),
  ]

  @Test("Each reload that is made wrong is found")
  func reloads() {
    for (rule, old, new) in Self.wrongReloads {
      #expect(Self.next.contains(old), "\(rule): \(old)")
      var text = Self.next.replacing(old, with: new, maxReplacements: 1)
      if rule == "long-enough" { text = text.replacing("2.000000,", with: "1.6,") }
      let found = Self.violations(Self.live, text)
      #expect(found.contains { $0.rule.name == rule }, "\(rule), \(old) -> \(new): \(found)")
    }
    let ended = live("#EXT-X-ENDLIST\n", Self.next, hint: "10.0")
    let more = ended.replacing("#EXT-X-ENDLIST", with: "#EXTINF:2.0,\n10.m4s\n#EXT-X-ENDLIST")
    let event = "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXTINF:3,\na.ts\n"
    let cut = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:5\n"
    let whole = event.replacing("EVENT", with: "VOD")
    for (rule, before, after) in [
      ("no-loss", Self.live, cut), ("end-is-final", ended, Self.next),
      ("end-is-final", ended, more),
      ("fixed-type", whole, whole + "#EXTINF:3,\nb.ts\n"),
      ("fixed-type", event, event.replacing("#EXT-X-PLAYLIST-TYPE:EVENT\n", with: "")),
    ] {
      let found = Self.violations(before, after)
      #expect(found.contains { $0.rule.name == rule }, "\(rule): \(found)")
    }
  }

  @Test("Every rule has a playlist that violates it, a clause and its own name")
  func complete() {
    let tried = Set(Self.wrong.map(\.rule) + Self.wrongReloads.map(\.rule)).union([
      "no-loss", "end-is-final", "fixed-type",
    ])
    let names = PlaylistRule.all.map(\.name)
    #expect(Set(names) == tried && Set(names).count == names.count)
    #expect(PlaylistRule.all.allSatisfy { $0.clause.contains("8216") && $0.text.hasSuffix(".") })
  }

  @Test("Text that isn't a playlist is read to its end")
  func hostile() {
    let long = String(repeating: "#EXTINF:1,\na.ts\n", count: 100_000)
    for text in [
      "", "\n", "#EXTM3U", "#EXT-X-SKIP:SKIPPED-SEGMENTS=999999999999999999", "=,=,=",
      "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:999999999999999999\n#EXT-X-SKIP:SKIPPED-SEGMENTS=999999999999999999\n#EXTINF:1,\na\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:999999999999999999\n#EXT-X-SERVER-CONTROL:HOLD-BACK=1,CAN-SKIP-UNTIL=1\n#EXTINF:9999999999999999999999999999999999999999999999,\na\n",
      "#EXT-X-PROGRAM-DATE-TIME:9999-99-99T99:99:99Z\n#EXTINF:1,\na", long,
    ] {
      #expect(!Self.violations(text, text).isEmpty)
    }
  }
}
