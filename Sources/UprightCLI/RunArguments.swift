internal import ArgumentParser

/// What every command that reads a clip and writes something takes.
struct RunArguments: ParsableArguments {
  @Option(help: "The input's container where it cannot be recognised.")
  var inputFormat: String?

  @Flag(name: .short, help: "Replace an output that is there.")
  var y = false

  @Flag(name: .shortAndLong, help: "Say nothing but errors.")
  var quiet = false

  @Flag(help: "Pass on what the FFmpeg libraries say.")
  var verbose = false

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false
}
