internal import Foundation
internal import Orientation
internal import OrientationSignals
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// Reads an input once from start to end on a separate thread, and passes each packet to its part: unchanged
/// if the part is copied, otherwise to the part's encoder.
///
/// Sendable by hand-over: it is made on one thread and run on another.
final class PartReader: @unchecked Sendable {
  /// The result of a run.
  struct Outcome: Sendable {
    var packets = 0
    var copied = 0
    var damaged = 0
    var error: UprightError?
    var isStopped = false
    /// The encoders that were started and must be waited for.
    var encoders: [WorkThread<PartEncoder.Outcome>] = []
  }

  private static let copiedLimit = 64

  private let plan: SessionPlan
  private let input: InputParts
  private let exchange: PartExchange
  private let makeEncoder: (Int) -> PartEncoder
  /// Limits the number of encoders that run in parallel.
  private let slots: DispatchSemaphore
  private var rewriter: DisplayOrientationRewriter?
  /// `nil` if packets need no conversion.
  private let form: BitstreamFilter?
  private var outcome = Outcome()
  /// The index of the part that is being read.
  private var part = 0
  private var encoder: PartEncoder?
  private var isOpen = true

  /// - Parameters:
  ///   - encoders: How many encoders may run in parallel.
  ///   - makeEncoder: Creates the encoder of a part.
  init(
    _ plan: SessionPlan, _ input: InputParts, exchange: PartExchange, encoders: Int,
    makeEncoder: @escaping (Int) -> PartEncoder
  ) throws(UprightError) {
    self.plan = plan
    self.input = input
    self.exchange = exchange
    self.makeEncoder = makeEncoder
    slots = DispatchSemaphore(value: max(1, encoders))
    form = try input.join == nil ? nil : plan.inBandForm()
    rewriter = OrientationMetadata().rewriter(for: plan.video)
    plan.demuxer.select(Set(plan.sideTracks.map(\.stream.index)).union([plan.video.index]))
  }

  /// Reads to the end, or until the exchange is closed.
  func run() -> Outcome {
    do throws(UprightError) {
      var feed = PacketReader(plan.demuxer)
      begin()
      while isOpen, let packet = feed.next() {
        if packet.streamIndex == plan.video.index {
          try take(packet)
        } else {
          isOpen = exchange.put(packet)
        }
      }
      end()
      exchange.endReading(parts: part + 1)
      outcome.damaged = feed.damaged
      outcome.error = feed.error
      outcome.isStopped = feed.isStopped
    } catch {
      exchange.fail(error)
      end()
    }
    return outcome
  }

  private func take(_ packet: consuming Packet) throws(UprightError) {
    // There may be more packets than in the survey if the file is still being written.
    guard outcome.packets < input.inputSurvey.survey.shown.count else { return }
    while outcome.packets >= input.parts[part].frames.upperBound {
      end()
      part += 1
      begin()
    }
    defer { outcome.packets += 1 }
    if let encoder {
      _ = encoder.queue.put(packet)
      return
    }
    outcome.copied += 1
    let isKey = packet.isKey
    let unmarked = unsafe packet.withBytes { bytes in
      unsafe rewriter?.rewrite(bytes, isKey: isKey)
    }
    var copy: Packet
    if let unmarked { copy = try packet.with(payload: unmarked) } else { copy = packet }
    if let form {
      guard let formed = try form.filter(copy) else { return }
      copy = formed
    }
    copy.dts = input.decodingTimes[outcome.packets]
    copy.rescale(to: plan.videoTimeBase)
    isOpen = exchange.put(copy, part: part, limit: Self.copiedLimit)
  }

  private func begin() {
    guard !input.parts[part].isCopied else { return }
    // The encoder that this waits for has all its packets, so it will finish.
    slots.wait()
    let encoder = makeEncoder(part)
    self.encoder = encoder
    let slots = slots
    outcome.encoders.append(
      WorkThread(name: "upright-part") {
        defer { slots.signal() }
        return encoder.run()
      })
  }

  private func end() {
    if let encoder {
      encoder.queue.close()
      self.encoder = nil
    } else {
      exchange.end(part: part)
    }
  }
}

extension SessionPlan {
  /// Returns the filter that converts copied and encoded packets to the MPEG-TS form, with parameter sets in
  /// band; `nil` if no conversion is needed.
  ///
  /// The muxer has one such filter for the whole track. Once it has seen the sets of an encoder, it no longer
  /// inserts the source's, and those of the header are for one size only. So each part has a separate filter.
  func inBandForm() throws(UprightError) -> BitstreamFilter? {
    // A configuration record begins with its version, 1 (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1).
    guard container.muxer == "mpegts", video.parameters.extradata.first == 1,
      ["h264", "hevc"].contains(video.codecName)
    else { return nil }
    return try BitstreamFilter("\(video.codecName)_mp4toannexb", for: video)
  }
}
