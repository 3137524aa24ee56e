/// The server side of a publishing connection (RTMP 1.0, 7.2). Takes received bytes, and returns events and
/// bytes to send. Uses no socket and no clock.
///
/// Players are rejected. The caller decides whether to accept a publisher: it receives `publish` as an event.
/// Until it calls `accept` or `refuse`, received bytes are kept and not processed, so the caller should stop
/// reading.
package struct PublishConnection: Sendable {
  /// The address of a published stream: `rtmp://host/APP/NAME?key=KEY`.
  package struct Address: Sendable, Hashable {
    /// The application, without leading and trailing slashes, and without a query.
    package let app: String
    /// The stream name, without a query. It may be a secret.
    package let name: String
    /// The value of `key` in the query of the name or else of the application, as it was sent; empty if there
    /// is none. It is a secret.
    package let key: String

    /// Creates an address.
    package init(app: String, name: String, key: String = "") {
      self.app = app
      self.name = name
      self.key = key
    }
  }

  /// The code of the status that a rejected publisher receives.
  package enum Rejection: String, Sendable {
    /// There is no such stream, or it has a publisher already.
    case badName = "NetStream.Publish.BadName"
    /// The publisher isn't allowed to publish.
    case denied = "NetStream.Publish.Denied"
  }

  /// An event of the connection.
  package enum Event: Sendable, Hashable {
    /// A publisher requests to publish. Call `accept` or `refuse`. It is the last event until then.
    case publish(Address)
    /// A part of the accepted stream.
    case tag(FLVTag)
    /// The publisher ends the stream.
    case unpublish
    /// The stream contains frames that are not accepted. The publisher has been notified, and the connection
    /// must be closed after the output is sent.
    case rejected(reason: String)
    /// Something about the stream that its owner should know, once.
    case notice(String)
  }

  private enum State { case handshake, connected, asked, publishing, closed }

  private static let windowSize: UInt64 = 2_500_000

  private var state = State.handshake
  private var handshake: Handshake
  private var chunks: ChunkReader
  private var writer = ChunkWriter()
  private var output: [UInt8] = []
  /// The application as the publisher sent it.
  private var app = ""
  private var publishStream: UInt32 = 0
  private var lastStream: UInt32 = 0
  private var received: UInt64 = 0
  private var acknowledged: UInt64 = 0
  private var window = Self.windowSize
  private var hasSeveralTracks = false

  /// - Parameters:
  ///   - random: 1528 random bytes for the handshake.
  ///   - longestMessage: The largest size of a message, in bytes. A larger one ends the connection.
  package init(random: [UInt8], longestMessage: Int = 8 << 20) {
    handshake = Handshake(random: random)
    chunks = ChunkReader(limits: .init(message: longestMessage))
  }

  /// Whether the connection reads no more bytes.
  package var isClosed: Bool { state == .closed }

  /// Returns the bytes to send, in order, and clears them.
  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// Processes received bytes.
  ///
  /// - Throws: `RTMPError` if they are not valid RTMP. If so, send the result of `takeOutput` and close the
  ///   connection.
  package mutating func receive(_ bytes: some Collection<UInt8>) throws(RTMPError) -> [Event] {
    if state == .closed { return [] }
    received += UInt64(bytes.count)
    do throws(RTMPError) {
      if state == .handshake {
        guard let rest = try handshake.process(bytes, output: &output) else { return [] }
        state = .connected
        chunks.append(rest)
      } else {
        chunks.append(bytes)
      }
      return try takeMessages()
    } catch {
      state = .closed
      throw error
    }
  }

  /// Accepts the publisher. Returns the events of the bytes that were received since it asked: some publishers
  /// don't wait for the answer.
  ///
  /// - Throws: `RTMPError` like `receive`.
  package mutating func accept() throws(RTMPError) -> [Event] {
    guard state == .asked else { return [] }
    state = .publishing
    var begin: [UInt8] = [0, 0]
    begin.appendBigEndian(UInt64(publishStream), bytes: 4)
    send(RTMPMessage(.userControl, payload: begin), on: 2)
    tell("status", "NetStream.Publish.Start", "Publishing started.")
    do throws(RTMPError) { return try takeMessages() } catch {
      state = .closed
      throw error
    }
  }

  /// Rejects the publisher. Close the connection after the output is sent.
  package mutating func refuse(_ reason: String, _ code: Rejection = .badName) {
    guard state == .asked else { return }
    tell("error", code.rawValue, reason)
    state = .closed
  }

  /// Tells an accepted publisher that its stream can't be used. Close the connection after the output is sent.
  package mutating func reject(_ reason: String) {
    guard state == .publishing else { return }
    tell("error", "NetStream.Publish.Rejected", reason)
    state = .closed
  }

  // MARK: - Messages

  /// Processes complete messages until the publisher asks to publish.
  private mutating func takeMessages() throws(RTMPError) -> [Event] {
    var events: [Event] = []
    while state != .closed, state != .asked, let message = try chunks.next() {
      try process(message, &events)
    }
    acknowledge()
    return events
  }

  private mutating func process(
    _ message: RTMPMessage, _ events: inout [Event]
  ) throws(RTMPError) {
    switch message.kind {
    case .windowAcknowledgementSize where message.payload.count >= 4:
      window = max(1, message.payload.prefix(4).reduce(0) { $0 << 8 | UInt64($1) })
    case .userControl: answer(control: message.payload)
    case .command: try process(command: message.payload, on: message.stream, &events)
    // AMF 3 commands are AMF 0 preceded by one byte.
    case .commandAMF3:
      try process(command: message.payload.dropFirst(), on: message.stream, &events)
    case .audio: process(.audio, message.timestamp, message.payload, &events)
    case .video: process(.video, message.timestamp, message.payload, &events)
    case .data: process(script: message.payload[...], message, &events)
    case .dataAMF3: process(script: message.payload.dropFirst(), message, &events)
    case .aggregate: process(aggregate: message, &events)
    default: break
    }
  }

  private mutating func process(
    _ kind: FLVTag.Kind, _ timestamp: UInt32, _ payload: [UInt8], _ events: inout [Event]
  ) {
    guard state == .publishing, !payload.isEmpty else { return }
    if let reason = AcceptedCodecs.refusal(of: kind, payload) {
      reject(reason)
      return events.append(.rejected(reason: reason))
    }
    if !hasSeveralTracks, AcceptedCodecs.isMultitrack(kind, payload) {
      hasSeveralTracks = true
      events.append(
        .notice(
          "the publisher sends several tracks (enhanced RTMP, multitrack): the first of video and of audio are used"
        ))
    }
    events.append(.tag(FLVTag(kind, timestamp: timestamp, payload: payload)))
  }

  /// Handles script data. `@setDataFrame` is an instruction to the server; the rest is part of the stream.
  private mutating func process(
    script: ArraySlice<UInt8>, _ message: RTMPMessage, _ events: inout [Event]
  ) {
    let prefix = AMFValue.bytes(of: [.string("@setDataFrame")])
    let body = script.starts(with: prefix) ? script.dropFirst(prefix.count) : script
    guard state == .publishing, !body.isEmpty else { return }
    events.append(
      .tag(FLVTag(.script, timestamp: message.timestamp, payload: Array(body))))
  }

  /// Handles an aggregate of consecutive tags, whose times are relative to the message's (7.1.6).
  private mutating func process(aggregate message: RTMPMessage, _ events: inout [Event]) {
    var rest = message.payload[...]
    var shift: UInt32?
    while state == .publishing, rest.count >= 15 {
      let start = rest.startIndex
      func number(_ offset: Int, _ count: Int) -> UInt32 {
        rest[start + offset..<start + offset + count].reduce(0) { $0 << 8 | UInt32($1) }
      }
      let size = Int(number(1, 3))
      guard rest.count >= size + 15 else { return }
      let time = number(4, 3) | number(7, 1) << 24
      let offset = shift ?? message.timestamp &- time
      shift = offset
      if let kind = FLVTag.Kind(rawValue: rest[start]) {
        process(kind, time &+ offset, Array(rest[start + 11..<start + 11 + size]), &events)
      }
      rest = rest.dropFirst(size + 15)
    }
  }

  /// Replies to a ping with the same time (7.1.7).
  private mutating func answer(control payload: [UInt8]) {
    guard payload.count >= 6, payload[0] == 0, payload[1] == 6 else { return }
    send(RTMPMessage(.userControl, payload: [0, 7] + payload[2..<6]), on: 2)
  }

  private mutating func acknowledge() {
    guard state != .handshake, received - acknowledged >= window / 2 else { return }
    acknowledged = received
    var payload: [UInt8] = []
    payload.appendBigEndian(received & 0xFFFF_FFFF, bytes: 4)
    send(RTMPMessage(.acknowledgement, payload: payload), on: 2)
  }

  // MARK: - Commands

  private mutating func process(
    command bytes: some Collection<UInt8>, on stream: UInt32, _ events: inout [Event]
  ) throws(RTMPError) {
    guard let values = AMFValue.values(in: bytes), let name = values.first?.text else {
      throw RTMPError("a command that can't be decoded")
    }
    let transaction = values.dropFirst().first?.number ?? 0
    let arguments = values.dropFirst(3)
    switch name {
    case "connect": connect(transaction, values.dropFirst(2).first)
    case "createStream":
      lastStream = min(lastStream + 1, 16)
      reply(transaction, [.null, .number(Double(lastStream))])
    case "publish": try publish(arguments.first?.text, on: stream, &events)
    case "play", "play2":
      publishStream = stream
      tell("error", "NetStream.Play.Failed", "Playback is not supported.")
      state = .closed
    case "FCUnpublish", "deleteStream", "closeStream":
      if state == .publishing {
        state = .connected
        events.append(.unpublish)
      }
    // Sent before a stream starts; clients wait for the reply or continue without it.
    case "releaseStream", "FCPublish", "_checkbw", "getStreamLength":
      if transaction > 0 { reply(transaction, [.null, .undefined]) }
    default: break
    }
  }

  private mutating func connect(_ transaction: Double, _ command: AMFValue?) {
    app = command?["app"]?.text ?? ""
    for (kind, rest) in [
      (RTMPMessage.Kind.windowAcknowledgementSize, [UInt8]()), (.setPeerBandwidth, [2]),
    ] {
      var payload: [UInt8] = []
      payload.appendBigEndian(Self.windowSize, bytes: 4)
      send(RTMPMessage(kind, payload: payload + rest), on: 2)
    }
    send(RTMPMessage(.setChunkSize, payload: [0, 0, 16, 0]), on: 2)
    reply(
      transaction,
      [
        .object([
          .init("fmsVer", .string("FMS/3,0,1,123")), .init("capabilities", .number(31)),
        ]),
        .object([
          .init("level", .string("status")),
          .init("code", .string("NetConnection.Connect.Success")),
          .init("description", .string("Connected.")), .init("objectEncoding", .number(0)),
        ]),
      ])
  }

  private mutating func publish(
    _ name: String?, on stream: UInt32, _ events: inout [Event]
  ) throws(RTMPError) {
    guard state == .connected else { throw RTMPError("a second publish command on one connection") }
    publishStream = stream
    state = .asked
    let address = Address(
      app: Self.path(app), name: Self.path(name ?? ""),
      key: Self.key(name ?? "") ?? Self.key(app) ?? "")
    guard !address.app.isEmpty || !address.name.isEmpty else {
      return refuse("the URL has no app and no name")
    }
    events.append(.publish(address))
  }

  /// Returns the path without leading and trailing slashes and without a query.
  private static func path(_ text: String) -> String {
    var path = text.prefix { $0 != "?" }[...]
    while path.first == "/" { path = path.dropFirst() }
    while path.last == "/" { path = path.dropLast() }
    return String(path)
  }

  /// Returns the value of `key` in the query, or `nil` if there is none.
  private static func key(_ text: String) -> String? {
    text.drop { $0 != "?" }.dropFirst().split(separator: "&").first { $0.hasPrefix("key=") }
      .map { String($0.dropFirst(4)) }
  }

  // MARK: - Answers

  private mutating func reply(_ transaction: Double, _ values: [AMFValue]) {
    let payload = AMFValue.bytes(of: [.string("_result"), .number(transaction)] + values)
    send(RTMPMessage(.command, payload: payload), on: 3)
  }

  private mutating func tell(_ level: String, _ code: String, _ description: String) {
    let information: [AMFValue.Member] = [
      .init("level", .string(level)), .init("code", .string(code)),
      .init("description", .string(description)),
    ]
    let payload = AMFValue.bytes(of: [
      .string("onStatus"), .number(0), .null, .object(information),
    ])
    send(RTMPMessage(.command, stream: publishStream, payload: payload), on: 5)
  }

  private mutating func send(_ message: RTMPMessage, on id: UInt8) {
    output += writer.bytes(of: message, on: id)
  }
}
