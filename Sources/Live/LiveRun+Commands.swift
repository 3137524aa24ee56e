internal import UprightPolicy
internal import UprightMedia
internal import UprightOrientation
internal import UprightMediaIO

extension LiveRun {
  /// Performs a command. A change waits for the next frame, unless there has been none.
  func perform(_ command: LiveCommand) {
    do throws(UprightError) {
      switch command {
      case .change(let change, let stills, let reply):
        guard isStarted else {
          take(change, stills)
          return answer(change, AppliedChange(at: nil, decisions: []), reply)
        }
        changes.append((change, stills, reply))
      case .add(let target, let id, let reply):
        let index = try outputs.add(target, id: id)
        open(index, reply)
      case .start(let id, let reply):
        let index = try outputs.index(of: id)
        let old = outputs.entries[index].writers
        guard try outputs.restart(index) else {
          return reply(.success(outputs.entries[index].status))
        }
        try detach(old)
        open(index, reply)
      case .stop(let id, let reply):
        let index = try outputs.index(of: id)
        guard outputs.stop(index) else {
          return reply(.success(outputs.entries[index].status))
        }
        let entry = outputs.entries[index]
        try detach(entry.writers)
        close(entry) { [control] status in
          control.report(status)
          reply(.success(status))
        }
      case .remove(let id, let reply):
        let index = try outputs.index(of: id)
        _ = outputs.stop(index)
        let entry = outputs.entries[index]
        try detach(entry.writers)
        outputs.remove(index)
        control.report(outputs.statuses)
        close(entry) { reply(.success($0)) }
      }
    } catch {
      command.fail(error)
    }
  }

  // MARK: - Settings

  /// Applies the waiting changes to the frame at `seconds`. Returns their answers, for after that frame.
  func applyChanges(at seconds: Double) -> [() -> Void] {
    defer { changes.removeAll() }
    return changes.map { change, stills, reply in
      do throws(UprightError) {
        var decisions: [RotationDecision] = []
        if let policy = change.policy {
          try control.policy { (state: inout LivePolicy) throws(UprightError) -> Void in
            decisions = try state.replace(with: policy, at: seconds)
          }
        }
        take(change, stills)
        let applied = AppliedChange(at: seconds, decisions: decisions)
        return { [self] in answer(change, applied, reply) }
      } catch {
        return { reply(.failure(error)) }
      }
    }
  }

  private func take(_ change: LiveChange, _ new: SessionStills) {
    if var policy = change.policy {
      // The encodes keep their sizes.
      policy.streamSize = configuration.policy.streamSize
      policy.streamCaptureSize = configuration.policy.streamCaptureSize
      configuration.policy = policy
      control.policy { $0.document = policy }
    }
    configuration.options = change.applied(to: configuration.options)
    let takesFocus = configuration.options.fills
    control.policy { $0.takesFocus(takesFocus) }
    stills = SessionStills(
      slateOf: change.slate == nil ? stills : new, overlaysOf: change.overlays == nil ? stills : new
    )
    for branch in branches { branch.change(configuration.options, stills) }
  }

  private func answer(
    _ change: LiveChange, _ applied: AppliedChange, _ reply: LiveCommand.Reply<AppliedChange>
  ) {
    control.notify(.change(change, applied))
    reply(.success(applied))
  }

  // MARK: - Outputs

  /// Starts the writer of an output, with the next keyframe.
  private func open(_ index: Int, _ reply: LiveCommand.Reply<LiveOutputStatus>) {
    let entry = outputs.entries[index]
    if let sourceGuidance {
      attach(entry, sourceGuidance) { $0.start(with: $1) }
    } else {
      for writer in entry.writers { writer.start() }
    }
    control.report(outputs.statuses)
    reply(.success(outputs.entries[index].status))
  }

  /// Queues no more packets for the writers of an output. Ends the encodes that have no other.
  func detach(_ writers: [OutputWriter]) throws(UprightError) {
    func own(_ branch: LiveBranch) -> [OutputWriter] { writers.filter(branch.contains) }
    // The packets that wait for audio are written too. If a rendition is encoded on, its packets can't be, and
    // those of the others are left out as well, so that all end at the same frame.
    let endsAll = branches.allSatisfy { own($0).isEmpty || own($0).count == $0.writers }
    for index in branches.indices.reversed() {
      let branch = branches[index]
      let own = own(branch)
      guard !own.isEmpty else { continue }
      let isIdle = own.count == branch.writers
      if !endsAll { for writer in own { try branch.remove(writer) } }
      if isIdle { try end(index) }
    }
  }

  private func end(_ index: Int) throws(UprightError) {
    let branch = branches[index]
    try branch.finish()
    closed.orient.add(branch.times.orient)
    closed.encode.add(branch.times.encode)
    control.policy { $0.removeCanvas(at: index) }
    branches.remove(at: index)
    guard index == 0 else { return }
    // The counts go on with those of the next branch.
    closed.frames += branch.frames - (branches.first?.frames ?? 0)
    closed.changes += branch.changes - (branches.first?.changes ?? 0)
  }

  /// Closes an output, so that it is playable, on a thread of its own.
  private func close(
    _ entry: LiveOutputList.Entry, reply: @escaping @Sendable (LiveOutputStatus) -> Void
  ) {
    _ = WorkThread<Void>(name: "upright-output-end") {
      entry.writers.forEach { $0.queue.end() }
      entry.writers.forEach { $0.close() }
      reply(entry.status)
    }
  }
}
