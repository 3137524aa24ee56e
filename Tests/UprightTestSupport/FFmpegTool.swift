import Foundation

extension String {
  /// The parts that spaces separate. In an expression of several operands this compiles much faster than
  /// `split` and `map`.
  package var words: [String] { split(separator: " ").map(String.init) }
}

/// FFmpeg's command line programs, which tests use as an independent reference.
package enum FFmpegTool {
  private static let ffmpeg = ExternalTool("ffmpeg")
  private static let ffprobe = ExternalTool("ffprobe")

  /// Whether `ffmpeg` and `ffprobe` are installed.
  package static var isHere: Bool { ffmpeg.isHere && ffprobe.isHere }

  /// The numbers of the release, such as 5 and 1; none of a build without a release.
  private static let release: [Int] = {
    let text = (try? ffmpeg.run(["-version"]).text) ?? ""
    let name = text.split(separator: " ").dropFirst(2).first?.drop { !$0.isNumber } ?? ""
    return name.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
  }()

  /// Whether it is that release of FFmpeg or a later one.
  package static func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
    !release.lexicographicallyPrecedes([major, minor])
  }

  /// Runs `ffmpeg` and returns its standard output. Throws its standard error if it fails.
  @discardableResult
  package static func run(_ arguments: [String], timeout: Double = 180) throws -> Data {
    try ffmpeg.run(
      ["-nostdin", "-hide_banner", "-v", "error", "-y"] + arguments, timeout: timeout
    ).output
  }

  /// Runs `ffmpeg` with the arguments in `line`, separated by spaces, followed by `more`.
  @discardableResult
  package static func run(_ line: String, _ more: [String] = []) throws -> Data {
    try run(line.words + more)
  }

  /// Runs `ffprobe` and returns its output as JSON.
  package static func probe(_ path: String, _ arguments: [String]) throws -> JSON {
    let outcome = try ffprobe.run(["-v", "error", "-of", "json"] + arguments + [path])
    return try JSONDecoder().decode(JSON.self, from: outcome.output)
  }

  /// Returns the streams of a file.
  package static func streams(_ path: String) throws -> [JSON] {
    try probe(path, ["-show_streams"])["streams"].array
  }

  /// Returns the streams of a kind (`video`, `audio`).
  package static func streams(_ path: String, _ kind: String) throws -> [JSON] {
    try streams(path).filter { $0["codec_type"].string == kind }
  }

  /// One packet, as reported by `ffprobe`.
  package struct Packet: Sendable {
    /// In ticks of the stream's time base. `nil` if unknown.
    package let pts: Int?
    package let dts: Int?
    package let duration: Int?
    /// The presentation time, in seconds.
    package let time: Double?
    package let size: Int
    package let isKey: Bool
    /// Whether the frame is decoded and never shown.
    package let isDiscarded: Bool
    /// The MD5 of the payload. `nil` if not requested.
    package let hash: String?
  }

  /// Returns the packets of the stream that `specifier` selects (`v:0`, `a:0`), in file order.
  package static func packets(
    _ path: String, _ specifier: String, hashes: Bool = false
  ) throws -> [Packet] {
    var arguments = ["-select_streams", specifier, "-show_packets"]
    if hashes { arguments += ["-show_data_hash", "md5"] }
    return try probe(path, arguments)["packets"].array.map { packet in
      let flags = packet["flags"].string ?? ""
      return Packet(
        pts: packet["pts"].int, dts: packet["dts"].int, duration: packet["duration"].int,
        time: packet["pts_time"].string.flatMap(Double.init),
        size: packet["size"].string.flatMap(Int.init) ?? 0, isKey: flags.hasPrefix("K"),
        isDiscarded: flags.contains("D"), hash: packet["data_hash"].string)
    }
  }

  /// One decoded frame, as reported by `ffprobe`.
  package struct Frame: Sendable {
    /// In ticks of the stream's time base.
    package let pts: Int?
    /// The presentation time, in seconds.
    package let time: Double?
    package let width: Int
    package let height: Int
    /// All of `ffprobe`'s fields.
    package let json: JSON
  }

  /// Returns the decoded frames of a video stream, each with its size.
  package static func frames(_ path: String, specifier: String = "v:0") throws -> [Frame] {
    try probe(path, ["-select_streams", specifier, "-show_frames"])["frames"].array.map {
      Frame(
        pts: $0["pts"].int ?? $0["best_effort_timestamp"].int,
        time: ($0["pts_time"].string ?? $0["best_effort_timestamp_time"].string)
          .flatMap(Double.init),
        width: $0["width"].int ?? 0, height: $0["height"].int ?? 0, json: $0)
    }
  }

  /// The PSNR of each plane of one frame, in dB. Infinite if the planes are equal.
  package struct Ratio: Sendable {
    package let luma: Double
    package let cb: Double
    package let cr: Double
  }

  /// Returns the PSNR of each frame between the outputs `[a]` and `[b]` of a filter graph.
  ///
  /// - Parameters:
  ///   - inputs: FFmpeg's input options and `-i`s.
  ///   - graph: A filter graph with the outputs `[a]` and `[b]`, of the same size and format.
  package static func ratios(inputs: [String], graph: String) throws -> [Ratio] {
    let scratch = try Scratch()
    let file = scratch.path("psnr")
    // Frames are compared by index, not by time.
    try run(
      inputs + [
        "-lavfi",
        "\(graph);[a]settb=1/30,setpts=N[psnra];[b]settb=1/30,setpts=N[psnrb];"
          + "[psnra][psnrb]psnr=shortest=1:stats_file=\(file)",
        "-f", "null", "-",
      ])
    return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
      var values: [Substring: Double] = [:]
      for field in line.split(separator: " ") {
        let parts = field.split(separator: ":")
        if parts.count == 2 { values[parts[0]] = parts[1] == "inf" ? .infinity : Double(parts[1]) }
      }
      let all = values["psnr_y"] ?? values["psnr_avg"] ?? 0
      return Ratio(luma: all, cb: values["psnr_u"] ?? all, cr: values["psnr_v"] ?? all)
    }
  }
}

extension [FFmpegTool.Ratio] {
  /// The frame with the lowest luma PSNR.
  package var worst: (frame: Int, luma: Double) {
    enumerated().min { $0.element.luma < $1.element.luma }.map { ($0.offset, $0.element.luma) }
      ?? (-1, 0)
  }

  /// The lowest value of each plane over all frames.
  package var lowest: FFmpegTool.Ratio {
    FFmpegTool.Ratio(
      luma: map(\.luma).min() ?? 0, cb: map(\.cb).min() ?? 0, cr: map(\.cr).min() ?? 0)
  }
}
