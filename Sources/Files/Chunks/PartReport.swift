internal import UprightOrientation
package import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// What one chunk gave: the JSON file beside its part.
package struct PartReport: Sendable {
  /// How long it took, in seconds, and how much was read, in bytes.
  package struct Timing: Sendable {
    package var wall = 0.0
    package var cpu = 0.0
    package var decode = 0.0
    package var orient = 0.0
    package var encode = 0.0
    package var read = 0
  }

  /// SHA-256 of the plan's text.
  let plan: String
  package let chunk: Int
  /// SHA-256 of the part.
  package let digest: String
  /// The size of the part in bytes.
  package let size: Int
  /// The number of packets in the part; of the frames of the output if that is the part.
  package let packets: Int
  /// The number of video packets that were read.
  var videoPackets = 0
  /// The number of frames that they gave, or that were copied.
  package var frames = 0
  /// The number of those frames that were copied.
  var copied = 0
  var damagedPackets = 0
  var damagedFrames = 0
  var misplacedFrames = 0
  var damagedSidePackets = 0
  var interlacedFrames = 0
  /// What the part lacks of the input, as texts for the user.
  var dropped: [String] = []
  package var warnings: [String] = []
  /// The report of a transcode, if the part is the whole output.
  var whole: JSONValue?
  package var timing = Timing()
  /// Whether the part was there before.
  package var isReused = false
}

extension PartReport {
  package var json: JSONValue {
    [
      "plan": .string(plan), "chunk": .integer(chunk), "sha256": .string(digest),
      "size": .integer(size), "packets": .integer(packets),
      "video_packets": .integer(videoPackets), "frames": .integer(frames),
      "copied": .integer(copied),
      "damage": [
        "packets": .integer(damagedPackets), "frames": .integer(damagedFrames),
        "misplaced": .integer(misplacedFrames),
        "side_packets": .integer(damagedSidePackets), "interlaced": .integer(interlacedFrames),
      ],
      "dropped": .array(dropped.map { .string($0) }),
      "warnings": .array(warnings.map { .string($0) }),
      "timing": [
        "wall": .number(timing.wall.rounded(toPlaces: 3)),
        "cpu": .number(timing.cpu.rounded(toPlaces: 3)),
        "decode": .number(timing.decode.rounded(toPlaces: 3)),
        "orient": .number(timing.orient.rounded(toPlaces: 3)),
        "encode": .number(timing.encode.rounded(toPlaces: 3)),
        "bytes_read": .integer(timing.read),
      ],
      "report": whole ?? .null,
    ]
  }

  /// Reads the report of a chunk.
  ///
  /// - Throws: `badData` if it isn't one, or of another plan or chunk.
  init(parsing text: [UInt8], at path: String, plan: String, chunk: Int) throws(UprightError) {
    let top: JSONNode
    do throws(PolicyError) {
      top = JSONNode(document: try JSONValue(parsing: text))
      self.plan = try top.required("plan").string()
      let counts = 0...TickRuns.largest
      self.chunk = try top.required("chunk").count(in: counts)
      digest = try top.required("sha256").string()
      size = try top.required("size").count(in: counts)
      packets = try top.required("packets").count(in: counts)
      videoPackets = try top.required("video_packets").count(in: counts)
      frames = try top.required("frames").count(in: counts)
      copied = try top.required("copied").count(in: counts)
      let damage = try top.required("damage")
      damagedPackets = try damage.required("packets").count(in: counts)
      damagedFrames = try damage.required("frames").count(in: counts)
      misplacedFrames = try damage.required("misplaced").count(in: counts)
      damagedSidePackets = try damage.required("side_packets").count(in: counts)
      interlacedFrames = try damage.required("interlaced").count(in: counts)
      for text in try top.required("dropped").elements("texts") {
        dropped.append(try text.string())
      }
      for text in try top.required("warnings").elements("texts") {
        warnings.append(try text.string())
      }
      let times = try top.required("timing")
      timing.wall = try times.required("wall").number()
      timing.cpu = try times.required("cpu").number()
      timing.decode = try times.required("decode").number()
      timing.orient = try times.required("orient").number()
      timing.encode = try times.required("encode").number()
      timing.read = try times.required("bytes_read").count(in: counts)
      whole = try top.optional("report")?.value
    } catch {
      throw UprightError(
        .badData, "not the report of a chunk: \(error.message)", at: path,
        remedy: "remove it, and run the chunk again")
    }
    guard self.plan == plan, self.chunk == chunk else {
      throw UprightError(
        .badData, "not part \(chunk) of this plan", at: path,
        remedy: "remove it, and run the chunk again")
    }
  }

  /// Adds what reading, decoding and encoding came to.
  mutating func add(_ outcome: PartsOutcome) {
    let source = outcome.source
    (videoPackets, frames, copied) = (source.videoPackets, source.frames, outcome.copied)
    (damagedPackets, damagedFrames) = (source.damagedPackets, source.damagedFrames)
    misplacedFrames = source.misplacedFrames
    interlacedFrames = source.interlacedFrames
    damagedSidePackets = outcome.damagedSidePackets
    dropped = source.droppedMetadata.sorted()
    warnings = outcome.warnings
    (timing.decode, timing.orient, timing.encode) = (
      source.seconds, outcome.orientSeconds, outcome.encodeSeconds
    )
  }

  /// What the chunk adds to a transcode.
  var outcome: PartsOutcome {
    var outcome = PartsOutcome()
    outcome.source.frames = frames
    outcome.source.videoPackets = videoPackets
    outcome.source.damagedPackets = damagedPackets
    outcome.source.damagedFrames = damagedFrames
    outcome.source.misplacedFrames = misplacedFrames
    outcome.source.interlacedFrames = interlacedFrames
    outcome.source.droppedMetadata = Set(dropped)
    outcome.source.seconds = timing.decode
    outcome.copied = copied
    outcome.damagedSidePackets = damagedSidePackets
    (outcome.orientSeconds, outcome.encodeSeconds) = (timing.orient, timing.encode)
    outcome.warnings = warnings
    return outcome
  }
}
