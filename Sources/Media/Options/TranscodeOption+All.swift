internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightPolicy

extension TranscodeOption {
  /// All options, in the order of the help.
  public static let all: [TranscodeOption] = orienting + framing + encoding + reading + writing

  private static let orienting: [TranscodeOption] = [
    .word(
      "for", \.destination,
      """
      Who plays the output: vlc, browsers, apple, android, gstreamer, editors. Chooses container, canvas, codec, frame rate \
      and keyframes that are right there, where no other option does.
      """),
    .parsed(
      "frames", .text(suggestions: ["metadata", "sensor", "upright"]), for: .live,
      placeholder: "kind",
      "The orientation of the input's frames: metadata, gravity, sensor[:DEGREES][,front][,mirror], upright.",
      text: \.frames.name
    ) { (text, options) throws(UprightError) in options.frames = try FrameKind(parsing: text) },
    .word(
      "canvas", \.canvas, for: .live,
      """
      The output's shape: auto, follow, portrait, landscape, initial, majority, dual (portrait and landscape).
      """),
    .word(
      "reference", \.reference, for: .live,
      "What frames are turned to: gravity (upright) or interface (the app orientation)."),
  ]

  private static let framing: [TranscodeOption] = [
    .word(
      "fit", \.fit, for: .change,
      """
      How frames are placed on a canvas of another shape: fit, fill, blur, stretch. (default: fit; blur with --canvas \
      dual)
      """),
    .word(
      "portrait-fit", \.portraitFit, for: .change,
      "The same on the portrait canvas of --canvas dual."),
    .word(
      "landscape-fit", \.landscapeFit, for: .change,
      "The same on the landscape canvas of --canvas dual."),
    .word(
      "anchor", \.anchor, for: .live,
      "The part of a cropped frame that is kept: center, top, bottomLeading, ..."),
    .number(
      "focus-ease", \.focusEase, in: FocusRule.durations, for: .live,
      "How long a crop takes to move to the point of a focus event."),
    .parsed(
      "background", .text(suggestions: []), for: .change, placeholder: "RRGGBB",
      "The colour around the frame.", text: \.background.hex
    ) { (text, options) throws(UprightError) in options.background = try RGBColour(parsing: text) },
    .text(
      "slate", \.slate, .file(endings: []), for: .change, placeholder: "file",
      "A still picture that is shown while captureEnabledIn disables capture."),
    .texts(
      "overlay", for: .change, placeholder: "overlay",
      "A still picture over every frame: FILE@ANCHOR[:MARGIN][:WxH][:window]; repeatable.",
      texts: { $0.overlays.map(\.text) }
    ) { (texts, options) throws(UprightError) in
      options.overlays = try texts.map { (text) throws(UprightError) in try Overlay(parsing: text) }
    },
    .flag(
      "level", \.levels, for: .live,
      "Apply signals at any angle exactly, instead of rounding to a quarter turn."),
    .parsed(
      "size", .text(suggestions: StreamPreset.all.map(\.name) + ["source"]), for: .live,
      "WxH (either order), source, or a preset: 180p, 270p, 360p, 540p, 720p, 1080p.",
      text: { $0.size?.text }
    ) { (text, options) throws(UprightError) in try options.setSize(text) },
    .texts(
      "ladder", for: .live, placeholder: "rungs",
      "The sizes of an HLS output: 720p,360p or 1280x720:3M,640x360:crf=28. Instead of --size.",
      texts: { $0.ladder.map(\.text) }
    ) { (texts, options) throws(UprightError) in options.ladder = try Rung.ladder(parsing: texts) },
    .text(
      "landscape-output", \.landscapeOutput, .file(endings: []), placeholder: "output",
      """
      The landscape canvas of --canvas dual. (default: -o NAME.EXT writes NAME-portrait.EXT and NAME-landscape.EXT)
      """),
    .flag(
      "common-playlist", \.hasCommonPlaylist, for: .live,
      """
      List both canvases of --canvas dual in the playlist -o NAME.m3u8 too, beside NAME-portrait.m3u8 and \
      NAME-landscape.m3u8. Most players choose between them as between qualities.
      """),
    .parsed(
      "capture-size", .text(suggestions: []), for: .live, placeholder: "WxH",
      "The size that the app is told to capture. (default: the encoded size)",
      text: { $0.captureSize?.description }
    ) { (text, options) throws(UprightError) in
      options.captureSize = try PixelSize(encoding: text)
    },
    .word(
      "scaler", \.scaler, for: .live,
      "The scaler: swscale, fused (rotates and scales in one pass), or auto."),
  ]

  private static let encoding: [TranscodeOption] = [
    .parsed(
      "codec", .word(VideoCodec.selectable.map(\.rawValue)), for: .live,
      "h264, hevc, av1 or vp9. (default: the input's codec for files, h264 for streams)",
      text: { $0.codec?.rawValue }
    ) { (text, options) throws(UprightError) in options.codec = try VideoCodec(parsing: text) },
    .parsed(
      "encoder", .text(suggestions: NamedEncoder.names), placeholder: "name",
      """
      The encoder by FFmpeg's name, such as libaom-av1, or one in hardware: h264_vaapi, hevc_nvenc, h264_qsv; NAME@DEVICE \
      names its device. Instead of --codec.
      """,
      text: { $0.encoder?.text }
    ) { (text, options) throws(UprightError) in try options.setEncoder(text) },
    // A rate that is given replaces that of a preset, which is read before.
    TranscodeOption(
      "crf", .number, for: .live, "Constant quality, on the encoder's scale.",
      value: { options in
        if case .constantQuality(let quality?) = options.rate { .number(quality) } else { .null }
      }
    ) { (reader, options) throws(UprightError) in
      options.rate = try VideoEncoder.RateControl(&reader) ?? options.rate
    },
    TranscodeOption(
      "bitrate", .text(suggestions: []), for: .change, placeholder: "rate",
      "Bits per second: 1500k, 2M.",
      value: { options in
        if case .bitrate(let bits) = options.rate { .string("\(bits)") } else { .null }
      }
    ) { (reader, options) throws(UprightError) in
      options.rate = try VideoEncoder.RateControl(&reader) ?? options.rate
    },
    .text(
      "speed", \.speed, for: .live, placeholder: "preset", "The encoder's preset."
    ).alsoNamed("preset"),
    TranscodeOption(
      "gop", .number, for: .live, placeholder: "frames",
      "The maximum number of frames between keyframes. TS, FLV and RTSP have one each second without it.",
      value: { $0.gop.map(JSONValue.integer) ?? .null }
    ) { (reader, options) throws(UprightError) in
      options.gop = try reader.count("gop", in: 1...Int(Int32.max))
    },
    .parsed(
      "constant-rate", .text(suggestions: ["usual"]), placeholder: "rate",
      """
      A constant frame rate: usual (the input's), 30, 29.97, 30000/1001. Frames are repeated and left out. (default: \
      each frame keeps its time)
      """,
      text: { $0.constantRate?.text }
    ) { (text, options) throws(UprightError) in
      options.constantRate = try ConstantRate(parsing: text)
    },
    .word(
      "latency", Latency.self,
      "live: one packet per frame, without delay; file: lookahead and B-frames.",
      value: { $0.isLive ? .live : .file }
    ) { $1.isLive = $0 == .live },
    TranscodeOption(
      "threads", .number, placeholder: "n",
      "Threads of the decoder and of each encoder: 1 (one core) to 64. (default: automatic)",
      value: { $0.threads > 0 ? .integer($0.threads) : .null }
    ) { (reader, options) throws(UprightError) in
      options.threads =
        try reader.count("threads", in: 1...TranscodeOptions.maxThreads) ?? options.threads
    },
    .parsed(
      "encoder-options", .text(suggestions: []), for: .live, placeholder: "options",
      "Further options of the encoder: k=v:k=v.",
      text: { options in
        let pairs = options.encoderOptions.sorted { $0.key < $1.key }
        return pairs.isEmpty ? nil : pairs.map { "\($0.key)=\($0.value)" }.joined(separator: ":")
      }
    ) { (text, options) throws(UprightError) in
      options.encoderOptions = try TranscodeOptions.encoderOptions(parsing: text)
    },
    .number(
      "segment", \.segmentDuration, for: .live,
      "The duration of an HLS segment. (default: 6; of a live stream: 2)"),
    .word("hls-segments", \.segments, for: .live, "The container of HLS segments: fmp4 or ts."),
    .flag(
      "split", \.splits,
      """
      Write one file per format, for containers that can't change it: -o NAME.mkv writes NAME-0.mkv, NAME-1.mkv, ... \
      (--canvas auto then means follow).
      """),
  ]

  private static let reading: [TranscodeOption] = [
    .number("start", \.start, "The start of the output on the input's timeline."),
    .number("to", \.end, "The end of the output on the input's timeline."),
    .number(
      "events-offset", \.eventsOffset, "Seconds that are added to every event's time."),
    .text(
      "audio", \.audio, .file(endings: ["mjr"]), placeholder: "file",
      "The audio's Janus recording, if the input is one of video (.mjr)."),
    .word(
      "gravity", GravityConstants.self, for: .live,
      "The constants for gravity events: android or iio (iio-sensor-proxy).",
      value: { options in
        GravityConstants.allCases.first { $0.configuration == options.gravity }
      }
    ) { $1.gravity = $0.configuration },
  ]

  private static let writing: [TranscodeOption] = [
    .word(
      "upright", \.upright,
      "pixels: turn the frames; metadata: copy them and write the rotation as metadata."),
    .word(
      "reencode", ReencodeRule.self,
      """
      Encode frames that need no change: auto, always, never. (default: auto; always with --crf, --bitrate, --speed, \
      --encoder, --gop or --encoder-options)
      """,
      value: { $0.copiesWhatFits || $0.reencode != .auto ? $0.reencode : nil }
    ) { (rule, options) in
      options.reencode = rule
      options.copiesWhatFits = rule == .auto
    },
    .parsed(
      "chunks", .text(suggestions: ["auto"]),
      "The number of chunks of the input that are encoded in parallel, or auto.",
      text: \.chunks.text
    ) { (text, options) throws(UprightError) in options.chunks = try ChunkRule(parsing: text) },
    .number(
      "chunk-seconds", \.chunkDuration, in: TranscodeOptions.chunkDurations,
      "The length of a chunk, 1 to 86400. (default: by the number of chunks; of a plan: 60)"),
    .flag("strict", \.isStrict, "Treat damage in the input as an error (exit code 65)."),
    .flag("keep-location", \.keepsLocation, "Keep GPS positions in the metadata."),
    .flag(
      "keep-partial", \.keepsPartial,
      "When stopped by Ctrl-C, keep the output's name instead of NAME.partial.EXT."),
    .flag("overwrite", \.overwrites, "Replace existing files."),
  ]
}
