internal import ArgumentParser
internal import Dispatch
internal import Foundation
internal import Logging
internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import Upright
internal import UprightService

/// `upright-serve`, which `upright serve` becomes: runs the live service until SIGTERM or Ctrl-C.
@main
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upright-serve",
    abstract: "Run the live service: many sessions, an HTTP API, HLS and RTMP.",
    discussion: """
      Without options it listens on 127.0.0.1:8080 and writes under ./upright-data. At the first start it \
      creates an admin token and prints it. The API is described at /openapi.yaml.

      SETTINGS
      Settings come from, in this order: the command line, the environment, and the file given with --config. \
      The admin token can also be given as \(ServiceConfiguration.tokenVariable) in the environment.

      \(settings)

      CONFIGURATION FILE
      The file is a JSON object with any of the settings. Members whose key starts with // are comments. \
      --print-config prints a file with all settings and their meaning. The sessions of the file are started \
      whenever the service starts.

        {
          "listen": "127.0.0.1:8080",
          "data": "/var/lib/upright",
          "tokenFile": "/run/secrets/upright",
          "allowHosts": ["example.com", "*.example.org", "10.0.0.5:8000"],
          "tlsCert": "/etc/upright/certificate.pem",
          "tlsKey": "/etc/upright/key.pem",
          "playback": "signed",
          "sessions": [
            { "name": "stage",
              "input": { "url": "rtmp://0.0.0.0:1935/live/KEY" },
              "outputs": [ { "type": "hls" } ],
              "policy": "phone",
              "options": { "size": "720p" } }
          ]
        }

      TLS AND PLAYBACK
      With a certificate the HTTP server speaks HTTPS only (TLS 1.2 or later), and sessions can listen for rtmps: \
      publishers. On SIGHUP the service reads the certificate, its key and the playback key file again. Connections \
      that exist keep the old certificate. A file with an error is reported, and the old one stays in use.

      A session with "playback": "signed" is played with a URL from POST /v1/sessions/{id}/playback-url, or one that \
      another program signed with a key of the playback key file: a line "ID SECRET" for each key, of which the \
      first signs and all are accepted.

      PUBLISHERS
      A session of the file whose name has a * is a template: each publisher whose stream matches it gets a session, \
      named after the stream. This one lets everyone who knows the key publish to rtmp://HOST/live/NAME?key=KEY:

        { "name": "live/*",
          "input": { "url": "rtmp://0.0.0.0:1935" },
          "key": "at-least-8-characters",
          "outputs": [ { "type": "hls" },
                       { "type": "rtmp", "url": "rtmp://a.example/live/{name}" } ],
          "policy": "phone" }

      With the input srt://0.0.0.0:9000 publishers come by SRT, with the streamid live/NAME?key=KEY.

      The name is APP/*, APP/PREFIX-* or *, which means any app. The first template that matches is used; the paths \
      and names of the other sessions come first. {name} in the url or name of an output stands for the session's name. \
      The session ends when its publisher has been gone for inputTimeout; until then it may return. A second publisher \
      of a name is rejected.

      "onPublish": { "url": "https://a.example/hook", "secret": "...", "timeout": 5 } in the file, or in a template, is \
      a hook that is asked about each publisher, by a POST of name, app, key, address and protocol, signed as webhooks \
      are. A status of 2xx lets the publisher in; a JSON object in the answer replaces members of the template, and may \
      have another name. Any other answer, and none within the timeout, rejects the publisher. A template needs a \
      key or a hook unless it listens on loopback.

      FILES
        .upright/token
            In the data folder: the generated admin token.
        .upright/lan-ADDRESS.pem
            In the data folder: the certificate that --lan makes, with its key.
        .upright/playback-keys
            In the data folder: the generated keys of signed playback URLs.
        live/SESSION/
            In the data folder: playlists and segments of HLS outputs.
        recordings/SESSION/
            In the data folder: file outputs, listed, downloaded and removed by /v1/recordings.
        vod/
            In the data folder: the segments of the library that were made last.

      EXAMPLES
        upright serve
        upright serve --lan --webrtc auto
        upright serve --library /srv/videos
        upright serve --listen 0.0.0.0:8443 --tls-cert certificate.pem --tls-key key.pem
        UPRIGHT_TOKEN=... upright serve --listen 0.0.0.0:8080 --data /var/lib/upright
        upright serve --data /var/lib/upright --print-config > upright.json
        upright serve --config upright.json

      EXIT STATUS
      \(Failure.statusList)

      It is 0 too after Ctrl-C and SIGTERM, once all outputs are closed.
      """,
    version: "upright-serve \(UprightVersion.current)")

  static func main() {
    ProcessStart.setSignals()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments == [SessionWorker.option] { SessionWorker.run() }
    if arguments == [LibraryWorker.option] { LibraryWorker.run() }
    ProcessStart.setLog(arguments)
    do {
      var command = try parseAsRoot(arguments)
      try command.run()
    } catch {
      Failure(error, of: Self.self, asJSON: arguments.contains("--json-errors")).exit()
    }
  }

  /// The settings for the help, each with its environment variable, meaning and default.
  private static var settings: String {
    ServiceConfiguration.settings.map {
      let variable = $0.variable.map { " (\($0))" } ?? ""
      let standard =
        switch $0.standard {
        case .null, .array([]): ""
        case .string(let text): " (default: \(text))"
        default: " (default: \($0.standard.compact))"
        }
      return "  \($0.name)\(variable)\n" + wrapped($0.help + standard)
    }.joined(separator: "\n")
  }

  /// Returns text in lines of less than 80 characters, each after six spaces.
  private static func wrapped(_ text: String) -> String {
    var lines = ["     "]
    for word in text.split(separator: " ") {
      if lines[lines.count - 1].count + word.count > 78 { lines.append("     ") }
      lines[lines.count - 1] += " " + word
    }
    return lines.joined(separator: "\n")
  }

  @Option(help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
  var config: String?

  @Option(help: ArgumentHelp("The address of the HTTP server.", valueName: "host:port"))
  var listen: String?

  @Flag(
    help:
      "Let phones in the same network reach the service: HTTPS on this machine's address there, and a QR code."
  )
  var lan = false

  @Option(
    help: ArgumentHelp("The folder for all files that the service writes.", valueName: "folder"),
    completion: .directory)
  var data: String?

  @Option(
    help: ArgumentHelp("A file with the admin token.", valueName: "file"), completion: .file()
  )
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "A PEM file with the TLS certificate, followed by its intermediates.", valueName: "file"),
    completion: .file())
  var tlsCert: String?

  @Option(
    help: ArgumentHelp("A PEM file with the certificate's private key.", valueName: "file"),
    completion: .file())
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Who may play sessions that don't say so: open or signed.", valueName: "mode"),
    completion: .list(["open", "signed"]))
  var playback: String?

  @Option(
    help: ArgumentHelp(
      "The longest duration of a part of sessions with low latency.", valueName: "seconds"))
  var part: String?

  @Option(
    help: ArgumentHelp("A file with the keys of signed playback URLs.", valueName: "file"),
    completion: .file())
  var playbackKeyFile: String?

  @Option(
    help: ArgumentHelp(
      "An HTTP origin, to which the HLS of sessions with an epoch is PUT.", valueName: "url"))
  var hlsOrigin: String?

  @Option(
    help: ArgumentHelp(
      "The HTTP API of the WebRTC server Janus, for publishers from browsers; auto starts Janus.",
      valueName: "url"))
  var webrtc: String?

  @Option(
    help: ArgumentHelp(
      "A folder whose video files are played as HLS on demand, at /vod.", valueName: "folder"),
    completion: .directory)
  var library: String?

  @Flag(help: "Let everybody list and play the library.")
  var openLibrary = false

  @Option(
    help: ArgumentHelp(
      "The largest total size of the library's segments that are kept.", valueName: "bytes"))
  var cacheSize: String?

  @Flag(help: "Print the settings in effect as a configuration file, with comments, and exit.")
  var printConfig = false

  @Flag(help: "Log debug messages too.")
  var verbose = false

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  mutating func run() throws {
    let flags = [
      "listen": listen, "lan": lan ? "true" : nil, "data": data, "tokenFile": tokenFile,
      "tlsCert": tlsCert, "tlsKey": tlsKey,
      "playback": playback, "part": part, "playbackKeyFile": playbackKeyFile,
      "hlsOrigin": hlsOrigin, "webrtc": webrtc, "library": library,
      "openLibrary": openLibrary ? "true" : nil, "cacheSize": cacheSize,
    ].compactMapValues { $0 }
    let configuration = try ServiceConfiguration(
      flags: flags, environment: ProcessInfo.processInfo.environment, file: config)
    if printConfig { return try StandardOutput.write(configuration.documented.pretty + "\n") }
    let secrets = Secrets()
    var logger = Logger(label: "upright") {
      RedactingLog(label: $0, secrets: secrets, write: StandardError.write)
    }
    logger.logLevel = verbose ? .debug : .info
    let service = try UprightService(
      configuration, secrets: secrets, logger: logger)
    UprightRuntime.keepLargeBlocksApart()
    let failure = Mutex<(any Error)?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        try await service.run(signals: true) {
          // Not before: another service may use the folder, or the port.
          if service.isNewToken {
            StandardError.write("upright: the admin token is \(service.token)\n")
          } else if configuration.token == nil {
            StandardError.printLine("the admin token is in \(configuration.data)/.upright/token")
          }
          if let invitation = service.invitation { StandardError.write(invitation) }
        }
      } catch { failure.withLock { $0 = error } }
      done.signal()
    }
    Task.detached {
      while (try? await Task.sleep(for: .seconds(30))) != nil { UprightRuntime.returnFreeMemory() }
    }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw Self.startError(error, configuration) }
  }

  /// Returns the error that ended the service.
  private static func startError(_ error: any Error, _ configuration: ServiceConfiguration)
    -> UprightError
  {
    if let error = error as? UprightError { return error }
    return UprightError(
      .cannotCreate, "the service cannot run: \(error)", at: configuration.listen.description,
      remedy: "choose another --listen")
  }
}
