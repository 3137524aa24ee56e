internal import Glibc
internal import UprightOrientation
internal import Synchronization
internal import UprightMedia
internal import UprightMediaIO

/// One output of a live session: a bounded queue, and a thread that writes its packets.
///
/// A network output that fails is reopened with increasing delays, and continues at an IDR, and so is a playlist or a
/// recording for which there was no space or no file descriptor. Another file or folder that fails is closed, and so is
/// a network output that the linked FFmpeg can't write, or that another writer has taken over.
final class OutputWriter: Sendable {
  /// How an output is created and started. Its closures are called on the output's thread.
  struct SinkFactory: Sendable {
    /// The URL of a network output, which is reopened; `nil` for a file or a folder.
    let address: String?
    /// Whether the output is opened again after a shortage of the system.
    var outlastsShortage = false
    /// Whether it is a recording, which nobody watches: it ends with the last frame of the input, however long that was lost
    /// before the end, and can wait for the first audio.
    var isRecording = false
    /// Whether it lists segments: what follows dropped packets is a new format to players, and no segment lasts longer than
    /// what is in it.
    var isSegmented = false
    /// The second argument receives the description of the current file whenever it changes.
    let make:
      @Sendable (Interrupt, @escaping (LiveRecording) -> Void) throws(UprightError) ->
        any PacketSink
    /// Returns the description that the sink starts with for a video format.
    let describe: @Sendable (EncodedFormat) -> OutputDescription
    /// Ends an output that has no sink, and a wait of the sink that an interrupt doesn't end. Called on any
    /// thread.
    var abandon: @Sendable () -> Void = {}
  }

  /// The state of the output.
  struct State: Sendable {
    /// The number of frames that arrived while the output was not open, after the first attempt to open it.
    var missed = 0
    var bytes = 0
    /// The number of frames that were written.
    var frames = 0
    /// How often it could not be opened or written.
    var failures = 0
    /// How often it was opened after a failure.
    var reconnects = 0
    /// Whether it is open.
    var isOpen = false
    /// Why the output has ended or is not open; `nil` if it is open.
    var error: UprightError?
    /// Whether the output is closed, successfully or not.
    var hasEnded = false
    /// The file that is being written, or was written last.
    var recording: LiveRecording?
    /// The number of frames that had been dropped when that file was started.
    fileprivate var droppedBefore = 0
  }

  let factory: SinkFactory
  let queue: OutputQueue
  private let state = Mutex(State())
  /// Interrupts writing that is stuck.
  private let interrupt = Interrupt()
  private let done = Latch()
  private let observe: @Sendable (LiveRecording) -> Void

  /// The errors after which a network output isn't reopened.
  private static let final: Set<UprightError.Code> = [.unavailable, .superseded]

  /// The delay before a network output is reopened, in seconds: the first and the largest.
  private static let backOff = (first: 0.5, last: 8.0)

  /// - Parameter observe: Receives files that are started, finished or failed, on the output's thread.
  init(
    _ factory: SinkFactory, seconds: Double, bytes: Int,
    observe: @escaping @Sendable (LiveRecording) -> Void = { _ in }
  ) {
    self.factory = factory
    self.observe = observe
    queue = OutputQueue(seconds: seconds, bytes: bytes)
  }

  /// Starts the thread.
  ///
  /// - Parameter format: The format of the packets to come, if they don't begin with one.
  func start(with format: EncodedFormat? = nil) {
    _ = WorkThread<Void>(name: "upright-output") { [self] in
      run(format)
      state.withLock { state in
        state.hasEnded = true
        state.isOpen = false
      }
      done.open()
    }
  }

  var currentState: State { state.withLock { $0 } }

  /// The number of frames that were not written.
  var droppedFrames: Int { queue.droppedFrames + currentState.missed }

  /// Waits until the output is closed. Returns `false` if it is not closed by `deadline`.
  func join(by deadline: ContinuousClock.Instant) -> Bool { done.wait(until: deadline) }

  /// Closes the output, and abandons it if it is stuck. Blocks for at most ten seconds.
  func close() {
    queue.end()
    // There is nothing to finish while it is not open.
    if currentState.isOpen, join(by: .now + Self.closeTimeouts.first) { return }
    abandon()
    _ = join(by: .now + Self.closeTimeouts.last)
  }

  /// The time to close, and after that to be abandoned.
  static let closeTimeouts = (first: Duration.seconds(8), last: Duration.milliseconds(1500))

  /// Interrupts writing immediately.
  func abandon() {
    interrupt.raise()
    factory.abandon()
  }

  private func run(_ first: EncodedFormat?) {
    var sink: (any PacketSink)?
    var format = first
    var wait = Self.backOff.first
    var frozen = FrozenItems()
    // `nil` before the first keyframe, where the output begins.
    var retryTime: ContinuousClock.Instant?
    while let item = queue.take() {
      if let new = item.format { format = new }
      do throws(UprightError) {
        if let sink {
          if factory.isRecording, frozen.keeps(item) { continue }
          for kept in frozen.take() { try write(kept, to: sink, format: kept.format) }
          let isResumed = item.followsHole && factory.isSegmented
          try write(item, to: sink, format: item.format ?? (isResumed ? format : nil))
          wait = Self.backOff.first
          continue
        }
        let isDue = retryTime.map { ContinuousClock.now >= $0 } ?? true
        guard item.isKeyframe, isDue, let format else {
          if item.track == 0, retryTime != nil { state.withLock { $0.missed += 1 } }
          continue
        }
        let made = try factory.make(interrupt, report)
        sink = made
        try made.begin(factory.describe(format))
        try write(item, to: made, format: nil)
        state.withLock { state in
          if state.error != nil { state.reconnects += 1 }
          state.error = nil
          state.isOpen = true
        }
      } catch {
        sink?.abandon()
        sink = nil
        frozen = FrozenItems()
        state.withLock { state in
          state.error = factory.address.map { LiveAddress.masked(error, $0) } ?? error
          state.isOpen = false
          state.failures += 1
          if item.track == 0 { state.missed += 1 }
        }
        guard reopens(after: error), !interrupt.isRaised else { return queue.end() }
        retryTime = ContinuousClock.now + .seconds(wait)
        wait = min(wait * 2, Self.backOff.last)
      }
    }
    guard let sink else { return factory.abandon() }
    do throws(UprightError) { try sink.finish(isPartial: false) } catch {
      sink.abandon()
      state.withLock { $0.error = factory.address.map { LiveAddress.masked(error, $0) } ?? error }
    }
  }

  private func reopens(after error: UprightError) -> Bool {
    if factory.address != nil { return !Self.final.contains(error.code) }
    return factory.outlastsShortage && error.isShortage
  }

  /// Records the state of the current file.
  private func report(_ recording: LiveRecording) {
    let dropped = queue.droppedFrames
    let (reported, isNew) = state.withLock { state in
      var reported = recording
      let last = state.recording
      if last?.path != recording.path { state.droppedBefore = dropped + state.missed }
      reported.dropped = dropped + state.missed - state.droppedBefore
      state.recording = reported
      return (reported, last?.path != reported.path || last?.state != reported.state)
    }
    if isNew { observe(reported) }
  }

  private func write(
    _ item: OutputQueue.Item, to sink: any PacketSink, format: EncodedFormat?
  ) throws(UprightError) {
    guard let packet = item.packet.take() else { return }
    try sink.write(packet, track: item.track, format: format)
    state.withLock { state in
      state.bytes += item.bytes
      if item.track == 0 { state.frames += 1 }
    }
  }
}

/// The packets of a loss of the input, which are written if the input comes back.
private struct FrozenItems {
  private var items: [OutputQueue.Item] = []
  private var bytes = 0
  /// Whether the loss is so long that its packets are written at once.
  private var isFull = false

  /// The bytes that are kept: some minutes, because a picture that stands takes little.
  private static let limit = 16 << 20

  /// Keeps a packet if the input is lost. Returns `false` if it is to be written, after those that were kept.
  mutating func keeps(_ item: OutputQueue.Item) -> Bool {
    guard item.isFrozen else {
      isFull = false
      return false
    }
    isFull = isFull || bytes + item.bytes > Self.limit
    if isFull { return false }
    items.append(item)
    bytes += item.bytes
    return true
  }

  mutating func take() -> [OutputQueue.Item] {
    defer { (items, bytes) = ([], 0) }
    return items
  }
}

extension UprightError {
  /// Whether the system lacked what others may release: space on the disk, or descriptors of files.
  var isShortage: Bool {
    guard let number = systemError ?? library.map({ 0 &- $0.code }) else { return false }
    return [ENOSPC, EDQUOT, EMFILE, ENFILE].contains(number)
  }
}
