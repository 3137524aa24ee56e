import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightMediaIO
import UprightMedia
import UprightTestSupport

@testable import UprightFiles
@testable import UprightFrames

/// The values in a plan, without media.
@Suite("Values of a plan")
struct ChunkPlanValueTests {
  private static func node(_ text: String) throws -> JSONNode {
    JSONNode(document: try JSONValue(parsing: text.utf8))
  }

  @Test(
    "Ticks are runs of equal steps",
    arguments: [
      ([], "[]"), ([5], "[5,0,1]"), ([0, 512, 1024, 1536], "[0,512,4]"),
      ([0, 512, 1024, 1535, 2000], "[0,512,3,1535,465,2]"), ([9, 3, -3, 0], "[9,-6,3,0,0,1]"),
    ] as [([Int64], String)])
  func runs(_ ticks: [Int64], _ text: String) throws {
    #expect(TickRuns.json(ticks).compact == text)
    #expect(try TickRuns.ticks(Self.node(text), count: ticks.count) == ticks)
  }

  @Test(
    "Runs that are incomplete, too long or too large are refused",
    arguments: [
      "[0,1]", "[0,1,3]", "[0,1,5]", "[0,1,0]", "[0,1,4,9,1,1]", "[0,4503599627370496,4]",
      "[9007199254740992,1,4]", "[0,1,1e300]", "[0,0.5,4]", #"["0",1,4]"#, "{}", "null",
    ])
  func badRuns(_ text: String) {
    #expect(throws: PolicyError.self) { try TickRuns.ticks(Self.node(text), count: 4) }
  }

  @Test("The SHA-256 of the empty text, of abc and of a million letters (FIPS 180-4)")
  func digests() throws {
    #expect(
      try ByteDigest.digest(of: [])
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      try ByteDigest.digest(of: Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      try ByteDigest.digest(of: repeatElement(UInt8(ascii: "a"), count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    #expect([UInt8](hexadecimal: "00fF7a") == [0, 255, 122])
    for text in ["0", "0g", "é", "-1", "+f"] { #expect([UInt8](hexadecimal: text) == nil) }
  }

  @Test("Every option is written as it is read, and defaults are left out")
  func options() throws {
    #expect(try TranscodeOptions().named().compact == "{}")
    let text = """
      {"frames":"sensor:270,front,mirror","canvas":"dual","reference":"interface","fit":"blur",\
      "portrait-fit":"fill","landscape-fit":"fit","anchor":"top","focus-ease":1.5,"background":"ff0080",\
      "slate":"off.png","overlay":["a@b.png@top:24","bug.png@bottom:0:64x32:window"],"level":true,\
      "size":"360x640","ladder":["1280x720:3000000","640x360:crf=28.0","320x180"],\
      "landscape-output":"l.mp4","common-playlist":true,"capture-size":"1280x720","scaler":"fused","codec":"hevc",\
      "bitrate":"1500000","speed":"fast","gop":60,"latency":"live","threads":2,\
      "encoder-options":"bf=0:tune=film","segment":2.5,"hls-segments":"ts","split":true,"start":1.0,\
      "to":2.5,"events-offset":-0.5,"audio":"a.mjr","gravity":"iio","upright":"metadata",\
      "reencode":"auto","chunks":"auto","chunk-seconds":30.0,"strict":true,"keep-location":true,\
      "keep-partial":true,"overwrite":true}
      """
    var reader = try OptionReader(text.utf8)
    let options = try TranscodeOptions(&reader)
    try reader.finish()
    #expect(try options.named().compact == text)
    var crf = TranscodeOptions()
    (crf.rate, crf.size) = (.constantQuality(21.5), .source)
    #expect(try crf.named().compact == #"{"size":"source","crf":21.5}"#)
    crf.filter = .area
    #expect(throws: UprightError.self) { try crf.named() }
  }

  @Test(
    "A length of chunks is 1 s to a day", arguments: ["0.5", "0", "-1", "86401", "nan", "\"x\""])
  func badLengths(_ text: String) throws {
    #expect(throws: UprightError.self) {
      var reader = try OptionReader(#"{"chunk-seconds": \#(text)}"#.utf8)
      _ = try TranscodeOptions(&reader)
    }
  }

  @Test("Codec parameters are the same after writing and reading them")
  func parameters() throws {
    let numbers = [
      "codec_id": 27, "format": 0, "profile": 100, "level": 31, "width": 160, "height": 96,
      "color_range": 1, "color_trc": 16, "video_delay": 2, "red_x": 34000, "red_y": 16000,
      "green_x": 13250, "green_y": 34500, "blue_x": 7500, "blue_y": 3000, "white_x": 15635,
      "white_y": 16450, "max_luminance": 10_000_000, "min_luminance": 50, "max_cll": 1000,
      "max_fall": 400,
    ]
    let parameters = try CodecParameters(numbers: numbers, extradata: [1, 100, 0, 31])
    let found = Dictionary(parameters.numbers.map { ($0.name, $0.value) }) { first, _ in first }
    for (name, value) in numbers { #expect(found[name] == value, "\(name)") }
    #expect(parameters.extradata == [1, 100, 0, 31] && parameters.codecName == "h264")
    let again = try CodecParameters(numbers: found, extradata: parameters.extradata)
    #expect(again.json.compact == parameters.json.compact)
  }

  @Test(
    "Numbers that no video stream has are refused",
    arguments: [
      [:], ["codec_id": 27], ["codec_id": 27, "width": -1, "height": 96],
      ["codec_id": 86018, "width": 160, "height": 96],
      ["codec_id": 27, "width": 2_000_000_000, "height": 2_000_000_000],
    ] as [[String: Int]])
  func badParameters(_ numbers: [String: Int]) {
    #expect(throws: UprightError.self) { try CodecParameters(numbers: numbers, extradata: []) }
  }

  @Test("A packet is the same after writing and reading it, and a truncated one is refused")
  func packets() throws {
    var packet = try Packet.read(Self.record()[...])
    #expect(packet.pts == 7 && packet.dts == -3 && packet.duration == 2 && packet.isKey)
    #expect(packet.timeBase == Rational(1, 90000) && packet.size == 3)
    packet.pts = nil
    var bytes: [UInt8] = []
    packet.append(to: &bytes)
    #expect(try Packet.read(bytes[...]).pts == nil)
    let whole = Self.record()
    for count in 0..<whole.count {
      #expect(throws: UprightError.self) { _ = try Packet.read(whole.prefix(count)) }
    }
    #expect(throws: UprightError.self) { _ = try Packet.read((whole + [0])[...]) }
    // A timestamp that is too large, a time base of 0, and side data of an unknown type.
    for (place, value) in [(7, UInt8(0x7f)), (24, 0), (51, 255)] {
      var damaged = whole
      damaged[place] = value
      #expect(throws: UprightError.self, "\(place)") { _ = try Packet.read(damaged[...]) }
    }
  }

  /// A keyframe of three bytes with side data of one byte.
  private static func record() -> [UInt8] {
    var bytes: [UInt8] = []
    for time in [7, -3, 2] as [Int64] { bytes.append(number: time) }
    for number in [1, 90000, 1, 0] as [Int32] { bytes.append(number: number) }
    bytes.append(number: UInt32(3))
    bytes += [1, 2, 3]
    bytes.append(number: UInt32(1))
    // AV_PKT_DATA_NEW_EXTRADATA
    bytes.append(number: UInt32(1))
    bytes.append(number: UInt32(1))
    return bytes + [9]
  }
}
