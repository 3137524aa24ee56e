import Foundation
import Orientation
import RotationPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightPipeline
import UprightTestSupport

/// The fields of probes.
@Suite("Fields of probes", .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct TypedResultTests {
  // MARK: - Probes

  private static func elements(_ value: JSONValue) -> [JSONValue] {
    if case .array(let values) = value { values } else { [] }
  }

  /// An H.264 display orientation message of `rotation` units of 2^-16 turn anticlockwise, which persists.
  private static func message(_ rotation: Int) -> [UInt8] {
    [6, 0x2F, 3] + MovieWriter.be(rotation << 5 | 0b01001, 3) + [0x80]
  }

  @Test("A probe's streams and signals")
  func probe() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 25, gop: 25, bFrames: 0)
    clip.insert(nal: Self.message(16384), atShown: 10)
    clip.insert(nal: [6, 0x2F, 1, 0xC0, 0x80], atShown: 15)
    clip.insert(nal: Self.message(16384 + 910), atShown: 20)
    var movie = clip.movie
    movie.tracks[0].matrix = [1, 0, 0, -1]
    movie.tracks.append(.orientation([(at: 0, exif: 6), (at: 4 * clip.frame, exif: nil)]))
    let path = scratch.path("take.mov")
    try movie.write(to: path)

    let probe = try Probe(input: path)
    #expect(probe.input == path && probe.format.hasPrefix("mov,mp4"))
    #expect(probe.streams.map(\.kind) == [.video, .data] && probe.videoStream == 0)
    #expect(probe.streams.map(\.index) == [0, 1] && probe.streams[1].codecTag == "mebx")
    #expect(probe.streams[0].codec == "h264" && probe.streams[0].duration == 1)
    let video = try #require(probe.streams[0].video)
    #expect(video.size == PixelSize(64, 64) && video.sampleAspectRatio == .one)
    #expect(video.frames == 25 && video.rotateTag == nil)
    #expect(video.displayMatrix?.turn?.orientation == .downMirrored)
    #expect(probe.streams[1].video == nil && probe.streams.allSatisfy { $0.audio == nil })

    let signals = probe.signals
    #expect(signals.map(\.frame) == [0, 0, 4, 4, 10, 15, 15, 20])
    #expect(
      zip(signals, signals.map(\.frame)).allSatisfy { abs($0.seconds - Double($1) / 25) < 1e-9 })
    #expect(
      signals.map(\.source) == [
        .mebx, .trackMatrix, .mebx, .trackMatrix, .sei, .sei, .trackMatrix, .sei,
      ])
    #expect(
      signals.map { $0.signal?.orientation } == [
        .right, .downMirrored, nil, .downMirrored, .left, nil, .downMirrored, .left,
      ])
    #expect(signals.map(\.isApplied) == [true, false, false, true, true, false, true, true])
    #expect(signals[2].content == .ends(.mebx))
    let last = try #require(signals[7].signal)
    #expect(!last.isExact && abs(last.degrees - 265) < 0.01 && signals[4].signal?.isExact == true)
    #expect(
      (1...2).map { probe.json["signals"].map(Self.elements)?[$0].compact } == [
        #"{"at":0.0,"frame":0,"source":"trackMatrix","orientation":"downMirrored","degrees":180,"#
          + #""mirrored":true,"applies":false}"#,
        #"{"at":0.16,"frame":4,"source":"mebx","orientation":null,"degrees":null,"mirrored":null,"#
          + #""applies":false}"#,
      ])
  }

  @Test("A probe's audio, and an input without video")
  func probeAudio() throws {
    let scratch = try Scratch()
    let audio = try #require(try Probe(input: Samples.withSound).streams[1].audio)
    #expect(audio.sampleRate == 48000 && audio.channels >= 1)
    let path = scratch.path("tone.m4a")
    try FFmpegTool.run("-f lavfi -i sine=d=1:r=44100 -c:a aac", [path])
    let probe = try Probe(input: path)
    #expect(probe.videoStream == nil && probe.signals.isEmpty)
    #expect(probe.streams.map(\.kind) == [.audio])
    #expect(
      probe.lines.dropFirst() == [
        "  stream 0  audio aac 44100 Hz, 1 channels", "  no video stream",
      ])
    #expect(
      probe.json.compact.hasPrefix(
        #"{"streams":[{"index":0,"kind":"audio","codec":"aac","sampleRate":44100,"channels":1,"#
          + #""duration":"#))
  }
}
