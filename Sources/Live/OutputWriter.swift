internal import Foundation
internal import Synchronization
internal import UprightContainers
internal import UprightEncoding
internal import UprightMediaIO
internal import UprightPipeline

/// One output of a live session: a bounded queue, and a thread that writes what comes out of it.
///
/// A network output that fails is opened again, later each time, and goes on at an IDR. A file or a
/// folder that fails is over.
final class OutputWriter: Sendable {
  /// How an output is made and begun; called on the output's own thread.
  struct Recipe: Sendable {
    /// The address of a network output, which is tried again; nil for a file or a folder.
    let address: String?
    let make: @Sendable (Interrupt) throws(UprightError) -> any PacketSink
    /// What it is begun with where the pictures have this format.
    let describe: @Sendable (EncodedFormat) -> OutputDescription
  }

  /// What became of it so far.
  struct State: Sendable {
    /// Pictures that came while it was not open.
    var missed = 0
    var bytes = 0
    /// Why it is over, or not open at this moment; nil where it is.
    var error: UprightError?
    /// Whether it is closed, well or not.
    var hasEnded = false
  }

  let recipe: Recipe
  let queue: OutputQueue
  private let state = Mutex(State())
  /// Ends writing that is stuck.
  private let interrupt = Interrupt()
  private let done = DispatchSemaphore(value: 0)

  /// Seconds before a network output is tried again: at first, and at most.
  private static let backOff = (first: 0.5, last: 8.0)

  init(_ recipe: Recipe, seconds: Double, bytes: Int) {
    self.recipe = recipe
    queue = OutputQueue(seconds: seconds, bytes: bytes)
  }

  /// Begins its thread.
  func start() {
    let thread = Thread { [self] in
      run()
      state.withLock { $0.hasEnded = true }
      done.signal()
    }
    thread.name = "upright-output"
    thread.stackSize = 2 << 20
    thread.start()
  }

  var present: State { state.withLock { $0 } }

  /// Pictures that did not get through.
  var lostFrames: Int { queue.lostFrames + present.missed }

  /// Waits until it is closed; false where it was not by then.
  func join(by deadline: DispatchTime) -> Bool {
    guard done.wait(timeout: deadline) == .success else { return false }
    done.signal()
    return true
  }

  /// Ends writing at once, whatever it waits for.
  func abandon() { interrupt.raise() }

  private func run() {
    var sink: (any PacketSink)?
    var format: EncodedFormat?
    var wait = Self.backOff.first
    var notBefore = ContinuousClock.now
    while let item = queue.take() {
      if let new = item.format { format = new }
      do throws(UprightError) {
        if let sink {
          try write(item, to: sink, format: item.format)
          wait = Self.backOff.first
          continue
        }
        guard item.isEntry, let format, ContinuousClock.now >= notBefore else {
          if item.track == 0 { state.withLock { $0.missed += 1 } }
          continue
        }
        let made = try recipe.make(interrupt)
        sink = made
        try made.begin(recipe.describe(format))
        try write(item, to: made, format: nil)
        state.withLock { $0.error = nil }
      } catch {
        sink?.abandon()
        sink = nil
        state.withLock { state in
          state.error = recipe.address.map { LiveAddress.masked(error, $0) } ?? error
          if item.track == 0 { state.missed += 1 }
        }
        guard recipe.address != nil, !interrupt.isRaised else { return queue.end() }
        notBefore = ContinuousClock.now + .seconds(wait)
        wait = min(wait * 2, Self.backOff.last)
      }
    }
    do throws(UprightError) { try sink?.finish(isPartial: false) } catch {
      sink?.abandon()
      state.withLock { $0.error = recipe.address.map { LiveAddress.masked(error, $0) } ?? error }
    }
  }

  private func write(
    _ item: OutputQueue.Item, to sink: any PacketSink, format: EncodedFormat?
  ) throws(UprightError) {
    guard let packet = item.packet.take() else { return }
    try sink.write(packet, track: item.track, format: format)
    state.withLock { $0.bytes += item.bytes }
  }
}
