internal import Glibc
internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Writes a live output to files, one after another. Each begins with a keyframe at time zero and is playable
/// up to its last segment while it is written. Every packet is in exactly one file: audio in the one in which
/// it starts.
///
/// A new file begins at a limit, and where the format changes if the container can't carry that. A format that changes
/// all the time ends the recording, and a file in which nothing is playable is removed.
final class RecordingSink: PacketSink {
  /// How the files are named.
  enum Naming {
    /// One file. An existing one is replaced.
    case exact
    /// The first names that are free: `take.mp4`, `take-2.mp4` and so on.
    case free
  }

  private struct File {
    let sink: ContainerSink
    /// The session's time at its start.
    let start: MediaTime
    var bytes = 0
    var recording: LiveRecording
  }

  private let container: OutputContainer
  private let path: String
  private let naming: Naming
  private let duration: MediaTime?
  private let bytes: Int?
  private let interval: MediaTime
  private let interrupt: Interrupt
  private let report: (LiveRecording) -> Void
  private var description: OutputDescription?
  private var file: File?
  /// The number in the last name that was tried.
  private var number = 0
  /// When the last files began whose format differs from that of the file before, at most `maxChanges`.
  private var changes: [MediaTime] = []

  /// - Parameters:
  ///   - interval: The interval at which a file becomes playable up to that point.
  ///   - report: Receives the description of the current file whenever it changes.
  init(
    container: OutputContainer, path: String, naming: Naming, limits: RecordingLimits,
    interval: MediaTime, interrupt: Interrupt, report: @escaping (LiveRecording) -> Void
  ) {
    self.container = container
    self.path = path
    self.naming = naming
    duration = limits.seconds.map { MediaTime(seconds: $0) }
    bytes = limits.bytes
    self.interval = interval
    self.interrupt = interrupt
    self.report = report
  }

  /// The first file is created with the first keyframe, whose time it needs.
  func begin(_ description: OutputDescription) throws(UprightError) {
    var description = description
    // The encoder's priming comes before the first frame, and is in no file.
    for index in description.sideTracks.indices {
      let parameters = description.sideTracks[index].parameters
      description.sideTracks[index].parameters = try parameters.withoutPriming()
    }
    self.description = description
  }

  func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    do throws(UprightError) {
      let time = packet.time ?? .zero
      let length = packet.length
      if track == 0, packet.isKey {
        try startFile(at: time, changingTo: format)
      }
      // Audio from before the first frame has no place in a file.
      guard var current = file, time >= current.start || track == 0 else { return }
      current.bytes += packet.size
      if track == 0 {
        current.recording.frames += 1
        let end = (time + length - current.start).seconds
        current.recording.duration = max(current.recording.duration, end)
      }
      packet.move(by: -current.start)
      try current.sink.write(packet, track: track, format: format)
      file = current
      if track == 0 { report(current.recording) }
    } catch {
      fail(error)
      throw error
    }
  }

  /// Starts another file at a keyframe if there is none, or the current one ends.
  private func startFile(
    at time: MediaTime, changingTo format: EncodedFormat?
  ) throws(UprightError) {
    guard var description else {
      throw UprightError(.fault, "a packet before the header", at: path)
    }
    let isOther = format.map { $0.differs(from: description.format) } ?? false
    if let format { description.format = format }
    self.description = description
    if let file {
      let isLong = duration.map { KeyframeClock.ends(after: time - file.start, of: $0) } ?? false
      let isLarge = bytes.map { file.bytes >= $0 } ?? false
      let ends = isLong || isLarge || isOther && !container.canFollow
      guard ends, naming == .free else { return }
      try finishFile()
      if isOther { try countChange(at: time) }
    }
    let name = try create()
    do throws(UprightError) {
      let sink = try ContainerSink(
        container: container, target: name, interrupt: interrupt, unfinished: UnfinishedFiles(),
        wholeEvery: interval)
      try sink.begin(description)
      let recording = LiveRecording(path: name, start: time.seconds)
      file = File(sink: sink, start: time, recording: recording)
      report(recording)
    } catch {
      // Nothing has been written to it.
      if naming == .free { _ = unsafe unlink(name) }
      throw error
    }
  }

  /// - Throws: `inputOutput` if the files are shorter than a second, on average.
  private func countChange(at time: MediaTime) throws(UprightError) {
    if changes.count == Self.maxChanges {
      let elapsed = (time - changes.removeFirst()).seconds
      guard elapsed >= Double(Self.maxChanges) else {
        throw UprightError(
          .inputOutput,
          "the format has changed \(Self.maxChanges) times in less than as many seconds", at: path,
          remedy: "choose a canvas that doesn't follow")
      }
    }
    changes.append(time)
  }

  /// The number of changes of the format after which a recording ends if they were faster than one a second.
  static let maxChanges = 60

  /// Creates an empty file with the next free name. Returns its path.
  private func create() throws(UprightError) -> String {
    guard naming == .free else { return path }
    let folder = FilePath(path).absolute.folder.path
    while number < Self.maxFiles {
      number += 1
      let name = number == 1 ? path : OutputName.numbered(path, number)
      // A link that leads nowhere is also refused (POSIX, open: O_EXCL).
      let descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      if descriptor >= 0 {
        close(descriptor)
        return name
      }
      let reason = errno
      if reason == EEXIST { continue }
      // Someone has removed the folder since the output was added.
      if reason == ENOENT, unsafe mkdir(folder, 0o700) == 0 {
        number -= 1
        continue
      }
      throw UprightError(
        .cannotCreate, "cannot be written: \(unsafe String(cString: strerror(reason)))", at: name,
        remedy: "check the disk and that the folder is writable"
      ).failing(with: reason)
    }
    throw UprightError(
      .cannotCreate, "all names up to -\(Self.maxFiles) are in use", at: path,
      remedy: "give another name, or remove old files")
  }

  /// The number of files that may have one name.
  private static let maxFiles = 1_000_000

  private func finishFile() throws(UprightError) {
    guard var last = file else { return }
    try last.sink.finish(isPartial: false)
    file = nil
    last.recording.state = .finished
    report(last.recording)
  }

  private func fail(_ error: UprightError) {
    guard var last = file.take() else { return }
    last.sink.abandon()
    last.recording.state = .failed
    last.recording.reason = error.description
    if naming == .free, !isPlayable(last) {
      _ = unsafe unlink(last.recording.path)
      last.recording.reason = "\(error.description); nothing was playable, and the file was removed"
    }
    report(last.recording)
  }

  /// Whether a file that isn't finished has anything that can be played.
  private func isPlayable(_ file: File) -> Bool {
    // Nothing says what is in an MP4 or MOV before its first part is whole.
    if [.mp4, .mov].contains(container) { return file.sink.hasWholePart }
    var status = stat()
    return unsafe stat(file.recording.path, &status) != 0 || status.st_size > 0
  }

  func finish(isPartial: Bool) throws(UprightError) {
    do throws(UprightError) { try finishFile() } catch {
      fail(error)
      throw error
    }
  }

  /// What was written stays.
  func abandon() { fail(UprightError(.cancelled, "stopped", at: path)) }
}

extension EncodedFormat {
  /// Whether a container that has one description of its video must not carry both formats.
  fileprivate func differs(from other: EncodedFormat) -> Bool {
    size != other.size || parameters.extradata != other.parameters.extradata
  }
}
