internal import Hummingbird
internal import UprightPolicy

/// `POST /v1/sample`: a session that needs no camera. Its publisher is the service's own phone, which films a drawn scene and
/// is held as the events of the session say.
struct SampleRoutes: Sendable {
  let sessions: Sessions

  static let name = "sample"

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/sample") { _, context in
      let running = (try? sessions.find(Self.name)).flatMap { $0.hasEnded ? nil : $0 }
      let hosted = if let running { running } else { try await create() }
      hosted.turnBySample()
      return Response(
        running == nil ? .created : .ok, json: hosted.json(sessions.secrets, at: context.address))
    }
  }

  private func create() async throws -> HostedSession {
    if sessions.isDraining { throw Problem.draining() }
    var request = try SessionRequest(
      [
        "name": .string(Self.name), "input": ["whip": [:]], "latency": "low",
        "options": [
          "frames": "sensor", "reference": "gravity", "size": "360x640", "segment": .integer(1),
          "speed": "veryfast",
        ],
      ], rules: sessions.rules)
    request.input = .sample
    let hosted = try await sessions.create(request)
    hosted.input.sample?.start()
    return hosted
  }
}
