public import UprightOrientation
public import UprightPolicy
public import UprightFrames
internal import Synchronization
internal import UprightMediaIO
public import UprightMedia

/// Reads the frames of a file or URL, upright:
///
///     for try await frame in try UprightReader("take.mov") { ... }
///
/// Every signal of the input applies from its own frame on, wherever it is stored. By default each frame has the
/// size at which it is shown, with square pixels; with a canvas or a size in the options, all frames are laid out
/// as in a transcode. Frames are decoded and turned on threads of the reader, a few ahead: memory use doesn't
/// grow with the length of the input. Audio is not read.
///
/// The threads start with the first frame that is asked for, and end with the input, `close`, or the last
/// reference to the reader. For one receiver, which uses either `next` or the sequence.
public final class UprightReader: AsyncSequence, Sendable {
  private struct State {
    var options: TranscodeOptions
    /// Whether its start was given to `seek`.
    var isSought = false
    var run: ReaderRun?
    var isClosed = false
  }

  private let input: String
  private let inputFormat: String?
  private let pixels: FramePixels
  private let policy: PolicyDocument
  private let events: EventSource
  private let log = LogScope.current
  private let state: Mutex<State>

  /// Creates a reader. Opens nothing: what is wrong with the input is thrown with the first frame.
  ///
  /// - Parameters:
  ///   - input: A path, a URL that libavformat supports, or `-` for standard input.
  ///   - inputFormat: libavformat's name of the input's format, if it can't be detected.
  ///   - pixels: The pixel format of the frames.
  ///   - options: How frames are turned and laid out, and which part of the input is read. With the canvas
  ///     `auto` and no pair of sides, each frame has its own size. Options of encoders have no effect.
  ///   - policy: The rotation policy.
  ///   - events: The orientation events, in seconds from the first frame.
  /// - Throws: `usage` if options contradict each other, `badData` if the policy is invalid.
  public init(
    _ input: String, inputFormat: String? = nil, pixels: FramePixels = .native,
    options: TranscodeOptions = TranscodeOptions(), policy: PolicyDocument = PolicyDocument(),
    events: EventSource = .none
  ) throws(UprightError) {
    guard options.canvas != .dual, options.ladder.isEmpty else {
      throw UprightError(
        .usage, "a reader returns one picture of each frame", at: "canvas",
        remedy: "make a reader for each canvas or size")
    }
    self.input = input
    self.inputFormat = inputFormat
    self.pixels = pixels
    self.policy = policy
    self.events = events
    state = Mutex(State(options: options))
    _ = try request(State(options: options))
  }

  deinit { state.withLock { $0.run?.cancel() } }

  private func request(_ state: State) throws(UprightError) -> TranscodeRequest {
    var request = try TranscodeRequest(
      reading: input, inputFormat: inputFormat, options: state.options, policy: policy,
      events: events)
    request.log = log
    request.beginsWithShown = state.isSought
    return request
  }

  /// Returns the next frame, or `nil` at the end of the input. Blocks the thread until it is decoded.
  ///
  /// - Throws: `noInput` or `badData` for an input that can't be read, `cancelled` after `close`, and the other
  ///   errors of a transcode. The frames before the error are returned first.
  public func next() throws(UprightError) -> UprightFrame? {
    let run = try current()
    if let frame = run.frames.take() { return frame }
    if let failure = run.failure { throw failure }
    return nil
  }

  /// The same without blocking the thread.
  fileprivate func nextFrame() async throws(UprightError) -> UprightFrame? {
    let run = try current()
    if let frame = try await run.frames.next() { return frame }
    if Task.isCancelled { run.cancel() }
    if let failure = run.failure { throw failure }
    if Task.isCancelled { throw UprightError(.cancelled, "cancelled", at: input) }
    return nil
  }

  /// Returns the run, which begins with the first call.
  private func current() throws(UprightError) -> ReaderRun {
    try state.withLock { (state) throws(UprightError) in
      if state.isClosed { throw UprightError(.cancelled, "the reader is closed", at: input) }
      if let run = state.run { return run }
      let run = try ReaderRun(request(state), pixels)
      run.start()
      state.run = run
      return run
    }
  }

  /// Goes to another time. The next frame is the one that is shown at `seconds`, on the media timeline, whose
  /// zero is the first frame: it may begin before. A later frame may be sought for, or an earlier one. `next` throws `usage`
  /// if the video ends before.
  ///
  /// - Throws: `usage` for a time that isn't 0 or more, or is after the requested end.
  public func seek(to seconds: Double) throws(UprightError) {
    var sought = State(options: state.withLock { $0.options }, isSought: true)
    sought.options.start = seconds
    _ = try request(sought)
    let old = state.withLock { state -> ReaderRun? in
      (state.options, state.isSought) = (sought.options, true)
      return state.run.take()
    }
    old?.cancel()
    old?.join()
  }

  /// Ends the reader, and waits until its threads have ended, which takes a frame at most. Can be called on any
  /// thread, and again.
  public func close() {
    let run = state.withLock { state -> ReaderRun? in
      state.isClosed = true
      return state.run.take()
    }
    run?.cancel()
    run?.join()
  }

  /// Warnings for the user about what was read, such as damage; complete at the end of the input.
  public var warnings: [String] { state.withLock { $0.run?.warnings ?? [] } }

  /// Returns an iterator, which holds the reader.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: self) }

  /// Iterates over the frames.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: UprightReader

    /// Returns the next frame, or `nil` at the end of the input.
    ///
    /// - Throws: The errors of the reader's `next`; `cancelled` if the task is cancelled, which ends the reader;
    ///   `misuse` while another task waits for a frame.
    public mutating func next() async throws(UprightError) -> UprightFrame? {
      try await reader.nextFrame()
    }

    /// Returns the next frame. Throws the errors of `next()`.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(UprightError) -> UprightFrame? {
      try await reader.nextFrame()
    }
  }
}
