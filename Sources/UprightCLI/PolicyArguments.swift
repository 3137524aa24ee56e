internal import ArgumentParser
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightMediaIO
internal import UprightMedia

/// The arguments that decide the app orientation. All commands that evaluate a policy have them.
struct PolicyArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Orientation events as JSON Lines; - for standard input, read while it runs.",
      valueName: "file"),
    completion: .file(extensions: ["jsonl"]))
  var events: String?

  @Option(
    help: ArgumentHelp(
      "A policy file or the name of a built-in policy (see upright policies).",
      valueName: "policy"),
    completion: .policy)
  var policy: String?

  /// - Throws: `usage` if both the input and the events are standard input.
  func check(input: String) throws(UprightError) {
    guard input == "-" && events == "-" else { return }
    throw UprightError(
      .usage, "standard input can't be both the input and the events", at: "--events -",
      remedy: "give one of them as a file")
  }

  func document() throws(UprightError) -> PolicyDocument { try PolicyInput.policy(policy) }

  /// Returns the path of an input's events. In a folder of events it is the input's name with the extension
  /// `.jsonl`.
  func eventsFile(for input: String) -> String? {
    guard let events, InputList.isFolder(events) else { return events }
    return FilePath(events).appending(InputList.stem(of: input) + ".jsonl").path
  }

  /// Returns the events of an input.
  func source(for input: String, _ policy: PolicyDocument) throws(UprightError) -> EventSource {
    try PolicyInput.events(eventsFile(for: input), for: policy)
  }

  /// The files that are read, which no output option may name.
  func files(for input: String) -> [(what: String, path: String?)] {
    [("the events", eventsFile(for: input)), ("the policy", policy)]
  }
}
