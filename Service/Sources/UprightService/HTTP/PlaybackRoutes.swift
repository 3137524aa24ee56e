internal import Hummingbird
internal import UprightPolicy

/// `POST /v1/sessions/{id}/playback-url`: returns a signed URL of a session's playlist.
struct PlaybackRoutes: Sendable {
  let sessions: Sessions
  let keys: PlaybackKeys
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/sessions/:id/playback-url") { request, context in
      let hosted = try sessions.find(context)
      let seconds = try await request.seconds(upTo: PlaybackKeys.longest, bodyLimit: bodyLimit)
      let (path, expires) = keys.sign("/live/\(hosted.id)", seconds: seconds)
      return Response(json: [
        "url": .string(context.address.of(path)), "expires": .integer(expires),
      ])
    }
  }
}
