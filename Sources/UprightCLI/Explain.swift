internal import ArgumentParser
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

/// `upright explain`: prints a policy's decisions, without media.
struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what a policy decides for a list of events, without media.",
    discussion: """
      EXAMPLES
        upright explain --policy phone --events turns.jsonl
        upright explain --policy mine.json --events turns.jsonl --why
        upright explain --policy phone --events turns.jsonl --svg turns.svg
        upright explain --policy portrait --events - --json < turns.jsonl
      """)

  @OptionGroup var policyArguments: PolicyArguments

  @Option(
    help: ArgumentHelp("The encoded size. (default: the policy's, or 720x1280)", valueName: "WxH"),
    completion: .list(StreamPreset.all.map(\.name)))
  var size: String?

  @Option(help: ArgumentHelp("The size that the app is told to capture.", valueName: "WxH"))
  var captureSize: String?

  @Option(help: "The constants for gravity events: android or iio (iio-sensor-proxy).")
  var gravity = GravityConstants.android

  @Flag(help: "Print JSON, in the form of a report.")
  var json = false

  @Flag(help: "Print for each event which rule decided, and what it evaluated.")
  var why = false

  @Option(
    help: ArgumentHelp("Draw the timeline to a file, or - for standard output.", valueName: "file"),
    completion: .file(extensions: ["svg"]))
  var svg: String?

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  func validate() throws {
    if json && why {
      throw ValidationError("--json and --why exclude each other: give one of them")
    }
  }

  func run() throws {
    let (policy, events) = (policyArguments.policy, policyArguments.events)
    let document = try policyArguments.document()
    let guidance: StreamGuidance
    do throws(PolicyError) { guidance = try self.guidance(document) } catch {
      throw UprightError(error, code: .usage)
    }
    var plan: OrientationPlan
    do throws(PolicyError) {
      plan = try OrientationPlan(document, guidance: guidance, gravity: gravity.configuration)
    } catch {
      throw PolicyInput.located(error, in: policy ?? "phone")
    }
    if json, svg == nil { return try printJSON(plan) }
    if let events {
      try PolicyInput.forEach(events) { (event) throws(PolicyError) in try plan.push(event) }
    }
    plan.finish()
    if let svg {
      let inputs: [(String, String?)] = [("the events", events), ("the policy", policy)]
      try SideFile.check(svg, "--svg", against: inputs.filter { $0.1 != "-" })
      let text = TimelineDrawing(plan).svg
      try DrawingFile(svg).write(Array(text.utf8))
    } else {
      try StandardOutput.write(why ? DecisionExplanation(plan).text : DecisionTable(plan).text)
    }
    printWarnings(plan.warnings)
  }

  /// Prints while it reads, because there may be millions of events. If a short list has an error, nothing
  /// is printed.
  private func printJSON(_ plan: OrientationPlan) throws(UprightError) {
    var printer = PlanPrinter(plan)
    func write() throws(UprightError) {
      printWarnings(printer.warnings)
      while case let text = printer.take(), !text.isEmpty {
        guard StandardOutput.write(text, to: 1) else {
          throw StandardOutput.failure("standard output")
        }
      }
    }
    if let events = policyArguments.events {
      try PolicyInput.forEach(events) { (event) throws(PolicyError) in
        try printer.push(event)
      } afterwards: { () throws(UprightError) in
        if printer.count > 1 << 20 { try write() }
      }
    }
    printer.finish()
    try write()
  }

  private func printWarnings(_ warnings: [String]) {
    for warning in warnings { StandardError.printLine("warning: \(warning)") }
  }

  private func guidance(_ document: PolicyDocument) throws(PolicyError) -> StreamGuidance {
    let base = document.stream ?? .standard
    var encode = base.encodeSize
    var capture: PixelSize? = document.stream?.captureSize
    if let size {
      if let preset = StreamPreset.named(size) {
        encode = preset.size
      } else {
        encode = try StreamSize.parse(size, at: "--size")
      }
      capture = nil
    }
    if let captureSize { capture = try StreamSize.parse(captureSize, at: "--capture-size") }
    let guidance = StreamGuidance(encodeSize: encode, captureSize: capture)
    try guidance.check()
    return guidance
  }
}

extension GravityConstants: ExpressibleByArgument {}
