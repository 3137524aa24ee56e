internal import ArgumentParser
internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightFiles
internal import UprightMediaIO

/// What decides which way the app is laid out, as every command takes it that asks a policy.
struct PolicyArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Orientation events, JSON Lines; - for standard input, read as they come.", valueName: "file"),
    completion: .file(extensions: ["jsonl"]))
  var events: String?

  @Option(
    help: ArgumentHelp(
      "A policy file or a built-in's name (see upright policies).", valueName: "policy"),
    completion: .policy)
  var policy: String?

  /// - Throws: `usage` where standard input would have to be two things.
  func check(input: String) throws(UprightError) {
    guard input == "-" && events == "-" else { return }
    throw UprightError(
      .usage, "standard input cannot be the clip and the events", at: "--events -",
      remedy: "give one of them as a file")
  }

  func document() throws(UprightError) -> PolicyDocument { try PolicyInput.policy(policy) }

  /// The file of events that belong to a clip: in a folder of events it has the clip's own name with
  /// `.jsonl`.
  func eventsFile(for input: String) -> String? {
    guard let events, ClipList.isFolder(events) else { return events }
    return URL(fileURLWithPath: events)
      .appendingPathComponent(ClipList.stem(of: input) + ".jsonl").relativePath
  }

  /// The events that belong to a clip.
  func source(for input: String, _ policy: PolicyDocument) throws(UprightError) -> EventSource {
    try PolicyInput.events(eventsFile(for: input), for: policy)
  }

  /// What an option that writes a file must not name.
  func files(for input: String) -> [(what: String, path: String?)] {
    [("the events", eventsFile(for: input)), ("the policy", policy)]
  }
}
