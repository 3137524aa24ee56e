internal import ArgumentParser
internal import UprightOrientation
internal import UprightMediaIO

/// `upright`: the root command.
@main
struct UprightCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upright",
    abstract: "Turn phone video upright, by a rotation policy, at the exact frame.",
    discussion: """
      EXAMPLES
        upright transcode take.mov                     writes take.upright.mp4
        upright transcode raw.mp4 --frames sensor --events turns.jsonl -o live.m3u8
        upright explain --policy phone --events turns.jsonl
        upright probe take.mov
        upright preview take.mov -o sheet.png
        upright tag take.mp4 -o fixed.mp4 --orientation right

      EXIT STATUS
      \(Failure.statusList)
        130  Stopped by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP.

      ENVIRONMENT
        NO_COLOR
            If it isn't empty, the progress bar has no colours.
      """,
    version: version,
    subcommands: [
      Transcode.self, PlanCommand.self, RunCommand.self, JoinCommand.self, Explain.self,
      ProbeCommand.self, Tag.self, PreviewCommand.self, Policies.self,
      SchemaCommand.self, CheckCommand.self, Serve.self, Relay.self,
    ])

  private static var version: String {
    (["upright \(UprightVersion.current)", "FFmpeg \(Libraries.release)"] + Libraries.versions)
      .joined(separator: "\n")
  }

  static func main() {
    ProcessStart.setSignals()
    let arguments = Array(CommandLine.arguments.dropFirst())
    ProcessStart.setLog(arguments)
    failure(of: arguments)?.exit()
  }

  /// Runs the command that `arguments` name. Returns its failure, or `nil` if it succeeded.
  static func failure(of arguments: [String]) -> Failure? {
    do {
      var command = try parseAsRoot(arguments)
      try command.run()
      return nil
    } catch {
      return Failure(
        error, of: Self.self, asJSON: arguments.contains("--json-errors"),
        interrupted: Interruption.shared.status)
    }
  }
}
