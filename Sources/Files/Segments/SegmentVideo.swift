internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Makes the video packets of one part of an input.
struct SegmentVideo {
  private let plan: SessionPlan
  private let parts: InputParts
  private let part: Int
  private let clock: KeyframeClock
  private let frames: Range<Int>
  /// The index of the first packet to read; `nil` for that of the part.
  private let start: Int?

  /// - Parameters:
  ///   - part: The part of the list with the frames.
  ///   - clock: Its keyframe clock.
  ///   - frames: The frames that are wanted.
  init(
    _ plan: SessionPlan, _ list: SegmentList, part: Int, _ clock: KeyframeClock,
    frames: Range<Int>
  ) {
    (self.plan, parts, self.part, self.clock, self.frames) = (plan, list.parts, part, clock, frames)
    start =
      parts.parts[part].isCopied
      ? nil : list.start(of: max(0, frames.lowerBound - parts.neighbours)).packet
  }

  /// Returns the packets of the frames, in decoding order, and the format that an encoder gives them.
  ///
  /// - Parameters:
  ///   - isSought: Whether reading starts near the part and not where the input is, which is its start.
  ///   - isWanted: Asked for each packet.
  func packets(
    isSought: Bool, while isWanted: () -> Bool
  ) throws(UprightError) -> (EncodedFormat?, [PacketBox]) {
    let exchange = PartExchange(first: part)
    let single = PartReader.Single(part: part, isSought: isSought, start: start, end: endOfPackets)
    let reader = try PartReader(
      plan, parts, exchange: exchange, encoders: 1, single: single
    ) { [plan, parts, clock, frames] part in
      PartEncoder(plan, parts, part: part, frames: frames, clock: clock, exchange: exchange)
    }
    // Packets that are copied come faster than another thread would take them.
    if parts.parts[part].isCopied {
      let read = reader.run()
      let found = try taken(from: exchange, while: isWanted)
      if let error = read.error { throw error }
      return found
    }
    let reading = WorkThread(name: "upright-read") { reader.run() }
    do throws(UprightError) {
      let found = try taken(from: exchange, while: isWanted)
      guard let read = reading.join() else { throw UprightError(.fault, "no result of the reader") }
      for encoder in read.encoders { _ = encoder.join() }
      if let error = read.error { throw error }
      return found
    } catch {
      exchange.close()
      for encoder in reading.join()?.encoders ?? [] { _ = encoder.join() }
      throw error
    }
  }

  private func taken(
    from exchange: PartExchange, while isWanted: () -> Bool
  ) throws(UprightError) -> (EncodedFormat?, [PacketBox]) {
    var found: (format: EncodedFormat?, packets: [PacketBox]) = (nil, [])
    var format: EncodedFormat?
    let isCopied = parts.parts[part].isCopied
    var place = isCopied ? parts.parts[part].frames.lowerBound : frames.lowerBound
    while let item = try exchange.take(while: isWanted) {
      guard case .frame(let box, _) = item, var packet = box.take() else { continue }
      format = box.format ?? format
      if parts.join == nil { time(&packet, place) }
      place += 1
      guard let pts = packet.pts, frames.contains(frame(at: pts, packet.timeBase)) else {
        continue
      }
      found.format = found.packets.isEmpty ? format : found.format
      found.packets.append(PacketBox(packet, format: nil))
    }
    guard isWanted() else {
      plan.request.interrupt.raise()
      throw UprightError(.cancelled, "stopped", at: plan.request.input)
    }
    return found
  }

  /// The index after the last packet, in decoding order, that the frames need.
  private var endOfPackets: Int {
    let (whole, survey) = (parts.parts[part].frames, parts.inputSurvey.survey)
    let end = frames.upperBound + parts.neighbours
    guard end != whole.upperBound, end < survey.shown.count else {
      return min(end, survey.shown.count)
    }
    let next = survey.shown[end]
    return (survey.times.lastIndex { $0 < next } ?? 0) + 1
  }

  /// Gives a packet the decoding time of its place in the whole input, so that it doesn't depend on where its encoder
  /// began.
  private func time(_ packet: inout Packet, _ place: Int) {
    let time = parts.decodingTimes[min(place, parts.decodingTimes.count - 1)]
      .rescaled(from: plan.video.timeBase, to: packet.timeBase)
    packet.dts = packet.pts.map { min($0, time) } ?? time
  }

  /// Returns the index of the frame that is shown at a time, or of the one after it.
  private func frame(at pts: Int64, _ timeBase: Rational) -> Int {
    let tick = pts.rescaled(from: timeBase, to: plan.video.timeBase)
    return parts.inputSurvey.survey.shown.place(of: tick)
  }
}
