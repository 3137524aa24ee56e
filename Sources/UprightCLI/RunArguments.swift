internal import ArgumentParser

/// The arguments of all commands that read an input and write an output.
struct RunArguments: ParsableArguments {
  @Option(help: "The input's container, if it can't be detected.")
  var inputFormat: String?

  @OptionGroup var output: OutputArguments

  /// The socket of a process that works for a batch (`BatchWorker`).
  @Option(help: .private)
  var batchChannel: Int32?
}

/// The arguments of all commands that write an output.
struct OutputArguments: ParsableArguments {
  @Flag(
    name: [.customShort("y"), .customLong("overwrite")], help: "Replace an existing output.")
  var overwrites = false

  @OptionGroup var messages: MessageArguments

  var quiet: Bool { messages.quiet }
}

/// What a command prints.
struct MessageArguments: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Print errors only.")
  var quiet = false

  @Flag(help: "Print the log messages of the FFmpeg libraries.")
  var verbose = false

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false
}
