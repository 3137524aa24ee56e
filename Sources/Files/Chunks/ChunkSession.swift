package import UprightOrientation
package import UprightPolicy
package import UprightMedia
internal import UprightMediaIO

/// Works by a plan: does one chunk of it, or joins the parts of all.
package final class ChunkSession: Sendable {
  let plan: ChunkPlan
  /// SHA-256 of the plan's text, which each part names.
  let id: String
  let request: TranscodeRequest

  /// Creates a session. Opens nothing.
  ///
  /// - Parameters:
  ///   - text: The plan's text.
  ///   - input: Where the input is now; `nil` for the path or URL in the plan.
  ///   - output: What to write; `nil` for the path in the plan.
  ///   - overwrites: Whether `join` may replace an existing output.
  /// - Throws: `badData` if the text isn't a plan, `usage` if the output has another container.
  package init(
    plan text: [UInt8], input: String? = nil, output: String? = nil, overwrites: Bool = false
  ) throws(UprightError) {
    plan = try ChunkPlan(parsing: text)
    id = try ByteDigest.digest(of: text)
    let wanted = output ?? plan.output
    request = try plan.request(input: input ?? plan.input, output: wanted, overwrites: overwrites)
    guard wanted != "-", InputTrust.scheme(of: wanted) == nil,
      request.container == plan.container
    else {
      throw UprightError(
        .usage, "the plan is for a file of \(plan.container.rawValue)", at: wanted,
        remedy: "give a file with that extension")
    }
  }

  /// Where the input is.
  package var input: String { request.input }
  /// What `join` writes.
  package var output: String { request.output }

  /// The number of chunks. 0 if the input is copied as a whole.
  package var count: Int { plan.chunks.count }

  /// Ends the work. `run` and `join` throw `cancelled` and leave no part and no output. Can be called on any
  /// thread.
  package func cancel() {
    request.cancellation.raise()
    request.interrupt.raise()
    request.writingInterrupt.raise()
  }

  /// Removes unfinished output. Use it if the process exits without waiting.
  package func abandon() {
    cancel()
    request.unfinished.removeAll()
  }

  /// Does one chunk, and writes its part and its report to a folder, as `K.part` and `K.json`. A part that is there
  /// already is checked and kept. Blocks.
  ///
  /// Running a chunk again, or twice at the same time, does no harm: a part appears under its name when it is
  /// complete, and is never replaced.
  ///
  /// - Throws: `usage` for a chunk that the plan doesn't have; `badData` if the input or the libraries have
  ///   changed, or the folder has another part of that name.
  package func run(chunk: Int, folder: String) throws(UprightError) -> PartReport {
    guard plan.chunks.indices.contains(chunk) else {
      throw UprightError(
        .usage,
        count == 0
          ? "the plan has no chunks: the input is copied by join"
          : "the plan has the chunks 0 to \(count - 1)", at: "--chunk \(chunk)",
        remedy: count == 0 ? "use join" : "give one of them")
    }
    return try ChunkRun(self, chunk: chunk, folder: folder).run()
  }

  /// Joins the parts in a folder to the output. Checks every part's digest before anything is written; decodes and
  /// encodes nothing. Blocks.
  ///
  /// - Parameter observe: Called with progress, decisions and formats, on the calling thread.
  /// - Throws: `noInput` if a part is missing; `badData` if one is damaged or of another plan, or the input has
  ///   changed. No output is left under the final name.
  package func join(
    folder: String, observe: @escaping (SessionUpdate) -> Void = { _ in }
  ) throws(UprightError) -> JoinReport {
    try JoinRun(self, folder: folder, observe: observe).run()
  }
}

/// What `join` has done.
package enum JoinReport {
  /// The output was put together from parts, or copied from the input.
  case joined(TranscodeReport)
  /// The output was the only part, whose report this is.
  case whole(JSONValue, path: String, frames: Int)
}
