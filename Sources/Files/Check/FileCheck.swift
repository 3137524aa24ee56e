internal import UprightMedia
internal import UprightMediaIO
public import UprightOrientation
internal import UprightSignals

/// Finds out which signals a file has, and which classes of players show it wrong.
///
/// Of an MP4 or MOV file whose orientation is constant, the index and the heads of the samples are read. The packets of
/// other files are read to the end. Frames are decoded only if a signal can't be found otherwise.
public struct FileCheck {
  private var found: CheckedFile

  /// Checks a file.
  ///
  /// - Parameter path: A local file, or a URL that libavformat supports.
  /// - Throws: `noInput` if it can't be read or is no plain file, `badData` if it is damaged.
  public static func check(_ path: String) throws(UprightError) -> CheckedFile {
    if InputTrust.scheme(of: path) != nil { return try media(path, .video) }
    guard let state = FileState(path: path) else {
      throw UprightError(.noInput, "there is no such file", at: path, remedy: "check the name")
    }
    guard state.isRegular else {
      throw UprightError(.noInput, "is no plain file", at: path, remedy: "name a file or a folder")
    }
    let file = try FilePatcher(path: path, location: path, isReadOnly: true)
    switch try PatchedFormat(file) {
    case .movie:
      // A demuxer reads, or refuses, what has no index here.
      let inspected = try? MovieInspection(file)
      guard let inspected else { return try media(path, .video) }
      var check = FileCheck(found: CheckedFile(path: path, kind: .video))
      check.add(inspected)
      return check.found
    case let format? where format != .matroska && format != .webm:
      do throws(UprightError) {
        return image(path, try ImageInspection(file, format))
      } catch {
        throw error.location.isEmpty
          ? UprightError(error.code, error.message, at: path, remedy: error.remedy) : error
      }
    default: return try media(path, .video)
    }
  }

  /// Checks the media that a playlist lists.
  ///
  /// - Throws: As `check`.
  package static func media(
    _ path: String, _ kind: CheckedFile.Kind
  ) throws(UprightError) -> CheckedFile {
    let demuxer = try openSource(path)
    let tags = [demuxer.container.metadata] + demuxer.container.streams.map(\.metadata)
    let hasLocation =
      tags.contains { $0.keys.contains { SessionPlan.isLocation($0) } }
      || !demuxer.container.telemetryTracks.isEmpty
    guard let video = demuxer.bestStream(.video) else {
      var other = CheckedFile(path: path, kind: kind == .playlist ? kind : .other)
      if hasLocation { other.addLocation() }
      return other
    }
    guard video.codecName != "none" else { throw video.lacksDecoder(at: path) }
    var check = FileCheck(found: CheckedFile(path: path, kind: kind))
    check.add(ratio: video.sampleAspectRatio)
    if let matrix = video.displayMatrix, matrix.turn == nil { check.addInvalidMatrix() }
    if hasLocation { check.found.addLocation() }
    var scan = try SignalScan(demuxer)
    var log = SignalLog()
    var last: SignalScan.Change?
    while let change = try scan.next() {
      log.add(change)
      if last?.signals != change.signals { check.add(change) }
      last = change
    }
    check.found.signals = log.signals
    if last == nil {
      throw scan.error
        ?? UprightError(.badData, "the video has no frames", at: path, remedy: "check the file")
    }
    check.addMissedTurn()
    if kind == .playlist {
      for loss in demuxer.losses { check.found.add(.playlist, loss) }
    }
    return check.found
  }

  private static func image(_ path: String, _ image: ImageInspection) -> CheckedFile {
    var found = CheckedFile(path: path, kind: .image)
    found.orientation = image.orientation ?? .up
    if image.orientation?.isMirrored == true { found.add(.mirrored, "the image is mirrored") }
    if image.motion == .disagrees {
      found.add(.motionPhoto, "the image and its video are turned differently")
    }
    if image.hasLocation { found.addLocation() }
    return found
  }

  // MARK: - Video

  private mutating func add(_ movie: MovieInspection) {
    var signals: [OrientationSignal] = []
    if let timed = movie.timed { signals.append(OrientationSignal(.mebx, DisplayTurn(timed))) }
    if let matrix = movie.matrix {
      if let turn = matrix.turn {
        signals.append(OrientationSignal(.trackMatrix, turn))
      } else {
        addInvalidMatrix()
      }
    }
    add(ratio: movie.sampleAspectRatio)
    if movie.hasLocation { found.addLocation() }
    let change = SignalScan.Change(
      time: MediaTime(0, Rational(1, 1)), frame: 0, size: movie.size, shown: movie.size,
      signals: signals)
    var log = SignalLog()
    log.add(change)
    found.signals = log.signals
    add(change)
    addMissedTurn()
  }

  /// Adds the signals from one frame on.
  private mutating func add(_ change: SignalScan.Change) {
    let orientation = change.signal?.orientation ?? .up
    let place = "at \(change.time.seconds.rounded(toPlaces: 3)) s"
    if let first = found.orientation, first != orientation {
      found.add(
        .midStreamTurn, "\(place), frame \(change.frame): from \(first) to \(orientation)")
    }
    found.orientation = found.orientation ?? orientation
    if let strongest = change.signal,
      let other = change.signals.first(where: { $0.orientation != strongest.orientation })
    {
      let (one, two) = (strongest.source.rawValue, other.source.rawValue)
      found.add(
        .contradiction,
        "\(place): \(one) is \(strongest.orientation), \(two) is \(other.orientation)")
    }
    if orientation.isMirrored { found.add(.mirrored, "\(place): \(orientation)") }
    if let signal = change.signals.first(where: { !$0.isExact }) {
      let degrees = signal.degrees.rounded(toPlaces: 2)
      found.add(.angle, "\(place): \(signal.source.rawValue) is \(degrees) degrees")
    }
    for players in PlayerClass.allCases {
      let verdict = players.verdict(on: change.signals)
      found.classes[players] = (found.classes[players] ?? .upright).worse(verdict)
    }
  }

  private mutating func add(ratio: Rational) {
    if ratio != .one { found.add(.aspectRatio, "pixels are \(ratio), width to height") }
  }

  private mutating func addInvalidMatrix() {
    found.add(.angle, "the display matrix is no turn, and is ignored")
  }

  private mutating func addMissedTurn() {
    let names = PlayerClass.allCases.filter { found.classes[$0] == .wrong }.map(\.rawValue)
    if !names.isEmpty { found.add(.missedTurn, "wrong in " + names.joined(separator: ", ")) }
  }
}

extension CheckedFile {
  fileprivate mutating func addLocation() {
    add(.location, "the metadata says where it was taken (GPS)")
  }
}

extension PlayerClass.Verdict {
  /// Returns the one of two that says more against a file.
  fileprivate func worse(_ other: Self) -> Self {
    if self == .wrong || other == .wrong { return .wrong }
    return self == .unknown || other == .unknown ? .unknown : .upright
  }
}
