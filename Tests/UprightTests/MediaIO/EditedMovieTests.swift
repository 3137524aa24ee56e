import Foundation
import Testing
import UprightFiles
import UprightMediaIO
import UprightOrientation
import UprightTestSupport

/// Edit lists with several edits, cuts between keyframes, gaps, repeats and rates. The truth is the test's own
/// list: which frames of the clip without an edit list are shown, and when.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct EditedMovieTests {
  /// A clip of 48 frames at 24 fps with a keyframe each 12, and 2 s of noise.
  struct Clip: Sendable, CustomTestStringConvertible {
    var video: String
    var audio: String
    var name: String
    var version = 0
    var testDescription: String { "\(video) \(audio)" }

    static let all = [
      Clip(
        video: "libx264 -bf 2 -x264-params scenecut=0:b-adapt=0", audio: "pcm_s16le",
        name: "clip.mov"),
      Clip(video: "libx264 -bf 0", audio: "aac", name: "clip.mp4", version: 1),
      Clip(
        video:
          "libx265 -pix_fmt yuv420p10le -tag:v hvc1 -x265-params bframes=2:b-adapt=0:scenecut=0:open-gop=0:keyint=12:log-level=none",
        audio: "libopus -strict -2", name: "clip.mp4"),
    ]
  }

  /// Frames of the clip that are shown one after the other, after a pause.
  struct Piece: Sendable {
    var frames: Range<Int>
    var pause = 0.0
  }

  static let edits: [[Piece]] = [
    [Piece(frames: 12..<48)], [Piece(frames: 5..<48)], [Piece(frames: 0..<30)],
    [Piece(frames: 7..<29)], [Piece(frames: 0..<12), Piece(frames: 24..<48)],
    [Piece(frames: 3..<9), Piece(frames: 15..<20), Piece(frames: 30..<45)],
    [Piece(frames: 6..<40, pause: 0.5)],
    [Piece(frames: 0..<10), Piece(frames: 29..<44, pause: 0.5)],
    [Piece(frames: 12..<24), Piece(frames: 12..<24), Piece(frames: 0..<6)],
    [Piece(frames: 30..<42), Piece(frames: 2..<14)],
  ]

  /// Writes the clip without edit lists, and returns its path.
  private static func write(_ clip: Clip, _ scratch: Scratch) throws -> String {
    let path = scratch.path(clip.name)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=24:d=2 -f lavfi -i anoisesrc=d=2:r=48000:a=0.3:seed=7"
        + " -c:v \(clip.video) -preset veryfast -g 12 -video_track_timescale 12288 -movie_timescale 1000"
        + " -c:a \(clip.audio)", [path])
    return path
  }

  /// Gives the clip an edit list, and returns the shown frames and their times in seconds.
  private static func edit(
    _ path: String, _ clip: Clip, from starts: [Int], _ pieces: [Piece]
  ) throws -> (frames: [Int], times: [Double], length: Double) {
    var lists: [[EditListPatch.Edit]] = [[], []]
    var (frames, times, time): ([Int], [Double], Double) = ([], [], 0)
    for piece in pieces {
      if piece.pause > 0 {
        for track in 0..<2 { lists[track].append(.init(Int(piece.pause * 1000), at: -1)) }
        time += piece.pause
      }
      let duration = (piece.frames.count * 1000 + 12) / 24
      lists[0].append(.init(duration, at: piece.frames.lowerBound * 512 + starts[0]))
      lists[1].append(.init(duration, at: piece.frames.lowerBound * 2000 + starts[1]))
      for (index, frame) in piece.frames.enumerated() {
        frames.append(frame)
        times.append(time + Double(index) / 24)
      }
      time += Double(duration) / 1000
    }
    try EditListPatch.write(lists, version: clip.version, to: path)
    return (frames, times, time)
  }

  @Test(
    "What is shown, and when, is what the edit list says", arguments: Clip.all)
  func shown(_ clip: Clip) throws {
    let scratch = try Scratch()
    let source = try Self.write(clip, scratch)
    let whole = scratch.path("whole.y4m")
    try FFmpegTool.run(["-i", source, "-strict", "-1", "-fps_mode", "passthrough", whole])
    let reference = try Y4M(path: whole)
    #expect(reference.count == 48)
    let starts = try EditListPatch.mediaTimes(of: source)
    for (index, pieces) in Self.edits.enumerated() {
      let (frames, times, length) = try Self.edit(source, clip, from: starts, pieces)
      let raw = try Transcoded(source, to: scratch.path("\(index).y4m")) { $0.isStrict = true }
      let seen = try Y4M(path: raw.path)
      #expect(seen.count == frames.count, "\(pieces)")
      for (place, frame) in frames.enumerated() where place < seen.count {
        let isSame = seen.plane(0, frame: place) == reference.plane(0, frame: frame)
        #expect(isSame, "\(pieces): frame \(place) is not \(frame)")
      }
      #expect(raw.result.warnings.allSatisfy { !$0.contains("damaged") }, "\(raw.result.warnings)")
      let name = clip.audio == "pcm_s16le" ? "\(index).mov" : "\(index).mp4"
      let movie = try Transcoded(source, to: scratch.path(name)) { $0.isStrict = true }
      let found = try FFmpegTool.frames(movie.path).compactMap(\.time)
      #expect(found.count == times.count, "\(pieces)")
      for (found, time) in zip(found, times) {
        #expect(abs(found - time) < 0.0021, "\(pieces): \(found) is not \(time)")
      }
      try Self.checkAudio(movie.path, source, clip, pieces, length: length, scratch)
    }
  }

  /// Checks that the output's audio is that of the pieces. PCM is compared sample by sample.
  private static func checkAudio(
    _ output: String, _ source: String, _ clip: Clip, _ pieces: [Piece], length: Double,
    _ scratch: Scratch
  ) throws {
    let raw = ["-map", "0:a", "-f", "s16le", "-"]
    let heard = [UInt8](try FFmpegTool.run(["-i", output] + raw))
    let start = pieces[0].pause
    let expected = Int(((length - start) * 48000).rounded())
    // A gap within the audio is encoded as silence.
    guard clip.audio == "pcm_s16le", pieces.dropFirst().allSatisfy({ $0.pause == 0 }) else {
      // The last packet of a compressed track is whole, and its priming is hidden only before the time 0.
      let most = expected + 1023 + (start > 0 ? 1024 : 0)
      #expect(
        (expected - 48...most).contains(heard.count / 2), "\(pieces): \(heard.count / 2)")
      return
    }
    let whole = [UInt8](try FFmpegTool.run(["-ignore_editlist", "1", "-i", source] + raw))
    var samples: [UInt8] = []
    for piece in pieces {
      let count = (piece.frames.count * 1000 + 12) / 24 * 48
      let first = piece.frames.lowerBound * 2000
      samples += whole[first * 2..<min((first + count) * 2, whole.count)]
    }
    let isSame = heard == samples
    #expect(isSame, "\(pieces): \(heard.count) bytes, expected \(samples.count)")
  }

  @Test(
    "Held frames, dwells and rates are honoured where frames are encoded, and refused where they can't be"
  )
  func rates() throws {
    let scratch = try Scratch()
    let clip = Clip.all[0]
    let source = try Self.write(clip, scratch)
    let start = try EditListPatch.mediaTimes(of: source)[0]
    // Frame 6 for a second, then frames 12 to 24 at half the speed.
    try EditListPatch.write(
      [
        [
          .init(1000, at: 6 * 512 + start, rate: 0), .init(1000, at: 12 * 512 + start, rate: 32768),
        ],
        [.init(2000, at: 0)],
      ], to: source)
    let movie = try Transcoded(source, to: scratch.path("out.mp4"))
    let times = try FFmpegTool.frames(movie.path).compactMap(\.time)
    let expected = [0] + (0..<12).map { 1 + Double($0) / 12 }
    #expect(times.count == expected.count)
    for (time, expected) in zip(times, expected) { #expect(abs(time - expected) < 0.002) }
    #expect(throws: UprightError.self) {
      _ = try Transcoded(source, to: scratch.path("copy.mp4")) { $0.reencode = .never }
    }
  }

  @Test(
    "Edits are those of the file over HTTP too, with fragments and without",
    arguments: [false, true])
  func http(isFragmented: Bool) throws {
    let scratch = try Scratch()
    let clip = Clip.all[1]
    var source = try Self.write(clip, scratch)
    if isFragmented {
      let fragmented = scratch.path("fragmented.mp4")
      try FFmpegTool.run(
        ["-i", source, "-c", "copy"]
          + ["-movflags", "frag_keyframe+empty_moov+default_base_moof", fragmented])
      source = fragmented
    }
    let starts = try EditListPatch.mediaTimes(of: source)
    _ = try Self.edit(source, clip, from: starts, [Piece(frames: 7..<29)])
    let server = try Loopback.FileServer(source)
    defer { server.stop() }
    let local = try Transcoded(source, to: scratch.path("local.y4m"))
    let remote = try Transcoded(server.url, to: scratch.path("remote.y4m"))
    #expect(try Y4M(path: local.path).count == 22)
    #expect(FileManager.default.contentsEqual(atPath: local.path, andPath: remote.path))
    let heard = try [source, server.url].enumerated().map { index, input in
      let run = try Transcoded(input, to: scratch.path("\(index).mov"))
      return try FFmpegTool.run(["-i", run.path, "-map", "0:a", "-f", "s16le", "-"])
    }
    #expect(heard[0] == heard[1])
  }
}
