internal import Hummingbird
internal import RotationPolicy

/// `POST /v1/sessions/{id}/playback-url`: returns a signed URL of a session's playlist.
struct PlaybackRoutes: Sendable {
  let sessions: Sessions
  let keys: PlaybackKeys
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/sessions/:id/playback-url") { request, context in
      let hosted = try sessions.find(context)
      let members = try SessionRequest.members(
        of: await request.json(limit: bodyLimit), "request", allowing: ["seconds"])
      guard let seconds = members["seconds"]?.double.flatMap({ Int(exactly: $0) }),
        (1...PlaybackKeys.longest).contains(seconds)
      else {
        throw Problem.badRequest("seconds: must be an integer from 1 to \(PlaybackKeys.longest)")
      }
      let (path, expires) = keys.sign(hosted.id, seconds: seconds)
      return Response(json: [
        "url": .string(context.address.of(path)), "expires": .integer(expires),
      ])
    }
  }
}
