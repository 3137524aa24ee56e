internal import UprightMedia
internal import UprightFiles
internal import UprightOrientation
internal import UprightPolicy

/// The result of one input of a batch.
struct BatchResult: Sendable {
  /// What is printed on standard error, unless only errors are.
  var messages: [String] = []
  /// What is printed on standard output.
  var text = ""
  /// The input's entry in the report.
  var report = JSONValue.null
  /// The number of frames of the output.
  var frames = 0
  /// Whether the run was stopped, so that the output ends early.
  var isPartial = false

  init(text: String) { self.text = text }

  init(_ report: TranscodeReport, messages: [String]) {
    (self.messages, self.report) = (messages, report.json)
    (frames, isPartial) = (report.output.frames, report.isPartial)
  }
}

// What the processes of a batch tell each other (`MessageChannel`).

extension BatchResult {
  var payload: JSONValue {
    [
      "messages": .array(messages.map { .string($0) }), "text": .string(text), "report": report,
      "frames": .integer(frames), "partial": .bool(isPartial),
    ]
  }

  init(payload message: JSONValue) {
    if case .array(let lines)? = message["messages"] { messages = lines.compactMap(\.text) }
    text = message["text"]?.text ?? ""
    report = message["report"] ?? .null
    if case .integer(let count)? = message["frames"] { frames = count }
    isPartial = message["partial"] == .bool(true)
  }
}

extension InputList.Item {
  var payload: JSONValue { ["input": .string(input), "output": .string(output)] }

  init?(payload message: JSONValue) {
    guard let input = message["input"]?.text, let output = message["output"]?.text else {
      return nil
    }
    self.init(input: input, output: output)
  }
}

extension UprightError {
  var payload: JSONValue {
    [
      "code": .string(code.name), "message": .string(message), "at": .string(location),
      "remedy": .string(remedy),
    ]
  }

  init(payload value: JSONValue) {
    self.init(
      Code(name: value["code"]?.text ?? Code.fault.name), value["message"]?.text ?? "",
      at: value["at"]?.text ?? "", remedy: value["remedy"]?.text ?? "")
  }
}

extension SessionProgress {
  var payload: JSONValue {
    [
      "frames": .integer(frames), "seconds": .number(seconds),
      "duration": duration.map { .number($0) } ?? .null, "app": .string(appOrientation),
      "elapsed": .number(elapsed),
    ]
  }

  init(payload message: JSONValue) {
    var count = 0
    if case .integer(let frames)? = message["frames"] { count = frames }
    self.init(
      frames: count, seconds: message["seconds"]?.double ?? 0,
      duration: message["duration"]?.double, appOrientation: message["app"]?.text ?? "",
      elapsed: message["elapsed"]?.double ?? 0)
  }
}

extension JSONValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var double: Double? { if case .number(let number) = self { number } else { nil } }
}
