internal import HTTPTypes
internal import Hummingbird
internal import UprightPolicy

/// `/v1/lease`: how long the sessions with an epoch may run.
struct LeaseRoutes: Sendable {
  let sessions: Sessions
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    router.put("/v1/lease") { request, _ in
      let members = try SessionRequest.members(
        of: await request.json(limit: bodyLimit), "lease", allowing: ["seconds"])
      guard let seconds = members["seconds"]?.double, (0.1...60).contains(seconds) else {
        throw Problem.badRequest("seconds: must be 0.1 to 60")
      }
      let running = sessions.renewLease(seconds: seconds)
      return Response(json: [
        "sessions": .array(
          running.map { ["id": .string($0.id), "epoch": .integer($0.epoch ?? 0)] })
      ])
    }
  }
}
