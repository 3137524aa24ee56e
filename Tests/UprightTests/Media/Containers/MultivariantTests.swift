import UprightOrientation
import Testing
@testable import UprightMedia

/// The text of multivariant playlists, and the figures in it.
struct MultivariantTests {
  private static func variant(_ name: String, _ size: PixelSize) -> MultivariantText.Variant {
    .init(
      uri: "\(name).m3u8", peak: 1_234_567, average: 1_000_000, codecs: ["avc1.64001f"],
      size: size, frameRate: Rational(30000, 1001), name: nil)
  }

  @Test("Variants share the audio, whose rate is part of theirs")
  func text() {
    let text = MultivariantText(
      version: 7,
      variants: [
        Self.variant("720p", PixelSize(720, 1280)), Self.variant("360p", PixelSize(360, 640)),
      ],
      audio: [
        .init(
          uri: "audio.m3u8", peak: 130_000, average: 128_000, codec: "mp4a.40.2", channels: 2,
          language: "en")
      ])
    #expect(
      text.text == """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,LANGUAGE="en",CHANNELS="2",URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1370000,AVERAGE-BANDWIDTH=1130000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=720x1280,FRAME-RATE=29.970,AUDIO="audio"
        720p.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1370000,AVERAGE-BANDWIDTH=1130000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=360x640,FRAME-RATE=29.970,AUDIO="audio"
        360p.m3u8

        """)
  }

  @Test("Without audio, frame rate or a codec's name, nothing is invented")
  func unknown() {
    var variant = Self.variant("a", PixelSize(320, 180))
    variant.frameRate = nil
    variant.codecs = []
    variant.name = "landscape"
    let text = MultivariantText(version: 4, variants: [variant], audio: []).text
    #expect(
      text.hasSuffix(
        "\n#EXT-X-STREAM-INF:BANDWIDTH=1240000,AVERAGE-BANDWIDTH=1000000,RESOLUTION=320x180,NAME=\"landscape\"\na.m3u8\n"
      ))
    let quoted = MultivariantText(
      version: 4, variants: [],
      audio: [
        .init(uri: "a.m3u8", peak: 1, average: 1, codec: nil, channels: nil, language: "e\"n\n")
      ])
    #expect(!quoted.text.contains("LANGUAGE") && !quoted.text.contains("CHANNELS"))
  }

  @Test("The peak is that of sets of segments of 0.5 to 1.5 target durations")
  func peak() {
    let second = MediaTime(1, .one)
    var rate = SegmentRate(targetDuration: second + second)
    #expect(rate.peak == 0 && rate.average == 0)
    // A short segment alone doesn't count: 8000 bits in 0.1 s.
    rate.add(bytes: 1000, duration: MediaTime(1, Rational(1, 10)))
    #expect(rate.peak == 80_000)
    rate.add(bytes: 2000, duration: second + second)
    // 16000 bits in 2 s; both, 24000 bits in 2.1 s.
    #expect(abs(rate.peak - 24_000 / 2.1) < 1e-6)
    rate.add(bytes: 1500, duration: second)
    #expect(abs(rate.peak - 12_000) < 1e-6)
    #expect(abs(rate.average - 36_000 / 3.1) < 1e-6)
    // Not with the segment before it: 4 s are more than 1.5 target durations.
    rate.add(bytes: 250, duration: second + second + second)
    #expect(abs(rate.peak - 12_000) < 1e-6)
  }

  @Test("A stream of one short segment has that segment's rate")
  func short() {
    var rate = SegmentRate(targetDuration: MediaTime(6, .one))
    rate.add(bytes: 500, duration: MediaTime(1, .one))
    #expect(rate.peak == 4000 && rate.average == 4000)
    var empty = SegmentRate(targetDuration: MediaTime(6, .one))
    empty.add(bytes: 500, duration: .zero)
    #expect(empty.peak == 0 && empty.average == 0)
  }

  @Test("Names of playlists")
  func names() {
    var options = TranscodeOptions()
    options.canvas = .dual
    func playlists(_ hasPrefix: Bool, _ name: String, isCommon: Bool = false) -> RenditionPlaylists
    {
      RenditionPlaylists(
        path: name, hasPrefix: hasPrefix, renditions: options.renditions, isCommon: isCommon,
        hasAudio: true)
    }
    func paths(_ hasPrefix: Bool, _ name: String) -> [String] { playlists(hasPrefix, name).paths }
    #expect(
      paths(true, "/a/b:c.m3u8") == [
        "/a/b~3Ac-portrait.m3u8", "/a/b~3Ac-landscape.m3u8",
        "/a/b~3Ac-portrait-video.m3u8", "/a/b~3Ac-landscape-video.m3u8", "/a/b~3Ac-audio.m3u8",
      ])
    let common = playlists(true, "/a/b.m3u8", isCommon: true)
    #expect(common.paths.prefix(3) == ["/a/b.m3u8", "/a/b-portrait.m3u8", "/a/b-landscape.m3u8"])
    #expect(common.outputs == ["/a/b.m3u8"] && common.multivariants[0].canvas == nil)
    // The address of a live session always exists.
    #expect(playlists(false, "/a/index.m3u8").multivariants.map(\.canvas) == [0, 0, 1])
    options.ladder = [Rung(size: PixelSize(720, 1280)), Rung(size: PixelSize(360, 640))]
    #expect(
      paths(false, "/a/index.m3u8") == [
        "/a/index.m3u8", "/a/portrait.m3u8", "/a/landscape.m3u8", "/a/portrait-720p.m3u8",
        "/a/portrait-360p.m3u8", "/a/landscape-720p.m3u8", "/a/landscape-360p.m3u8",
        "/a/audio.m3u8",
      ])
  }
}
