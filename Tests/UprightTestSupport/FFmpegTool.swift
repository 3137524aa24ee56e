import Foundation

/// FFmpeg's own programs, as the tests' second opinion.
package enum FFmpegTool {
  private static let ffmpeg = ExternalTool("ffmpeg")
  private static let ffprobe = ExternalTool("ffprobe")

  /// Whether both are installed.
  package static var isHere: Bool { ffmpeg.isHere && ffprobe.isHere }

  /// Runs ffmpeg and returns what it wrote to standard output; a failure is thrown with its words.
  @discardableResult
  package static func run(_ arguments: [String], timeout: Double = 180) throws -> Data {
    try ffmpeg.run(
      ["-nostdin", "-hide_banner", "-v", "error", "-y"] + arguments, timeout: timeout
    ).output
  }

  /// The same, what must not be split written as one string with spaces.
  @discardableResult
  package static func run(_ line: String, _ more: [String] = []) throws -> Data {
    try run(line.split(separator: " ").map(String.init) + more)
  }

  /// ffprobe's answer, as JSON.
  package static func probe(_ path: String, _ arguments: [String]) throws -> JSON {
    let outcome = try ffprobe.run(["-v", "error", "-of", "json"] + arguments + [path])
    return try JSONDecoder().decode(JSON.self, from: outcome.output)
  }

  /// The streams of a file.
  package static func streams(_ path: String) throws -> [JSON] {
    try probe(path, ["-show_streams"])["streams"].array
  }

  /// The streams of a kind (`video`, `audio`).
  package static func streams(_ path: String, _ kind: String) throws -> [JSON] {
    try streams(path).filter { $0["codec_type"].string == kind }
  }

  /// One packet as ffprobe shows it.
  package struct Packet: Sendable {
    /// Ticks of the stream's time base; nil: not known.
    package let pts: Int?
    package let dts: Int?
    package let duration: Int?
    /// Seconds.
    package let time: Double?
    package let size: Int
    package let isKey: Bool
    /// Decoded and never shown.
    package let isDiscarded: Bool
    /// Of the payload; nil where it was not asked for.
    package let hash: String?
  }

  /// The packets of the stream that `specifier` names (`v:0`, `a:0`), in file order.
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

  /// One decoded frame as ffprobe shows it.
  package struct Frame: Sendable {
    /// Ticks of the stream's time base.
    package let pts: Int?
    /// Seconds.
    package let time: Double?
    package let width: Int
    package let height: Int
    /// Everything else.
    package let json: JSON
  }

  /// The decoded frames of the first video stream, each with its own size.
  package static func frames(_ path: String, specifier: String = "v:0") throws -> [Frame] {
    try probe(path, ["-select_streams", specifier, "-show_frames"])["frames"].array.map {
      Frame(
        pts: $0["pts"].int ?? $0["best_effort_timestamp"].int,
        time: ($0["pts_time"].string ?? $0["best_effort_timestamp_time"].string)
          .flatMap(Double.init),
        width: $0["width"].int ?? 0, height: $0["height"].int ?? 0, json: $0)
    }
  }

  /// PSNR in dB of one frame, plane by plane; infinity where the planes are equal.
  package struct Ratio: Sendable {
    package let luma: Double
    package let cb: Double
    package let cr: Double
  }

  /// PSNR frame by frame between what a filter graph puts on its pads [a] and [b].
  ///
  /// - Parameters:
  ///   - inputs: FFmpeg's input options and `-i`s.
  ///   - graph: ends in `[a]` and `[b]`, of one size and format.
  package static func ratios(inputs: [String], graph: String) throws -> [Ratio] {
    let scratch = try Scratch()
    let file = scratch.path("psnr")
    // Frames meet by number, not by time.
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

  /// The lowest of all three planes, each over all frames.
  package var lowest: FFmpegTool.Ratio {
    FFmpegTool.Ratio(
      luma: map(\.luma).min() ?? 0, cb: map(\.cb).min() ?? 0, cr: map(\.cr).min() ?? 0)
  }
}
