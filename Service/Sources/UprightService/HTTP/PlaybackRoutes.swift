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
      return keys.response("/live/\(hosted.id)", seconds: seconds, context)
    }
  }
}

extension PlaybackKeys {
  /// Returns the response with a signed URL of a playlist. The parameters are as for `sign`.
  func response(_ folder: String, seconds: Int, _ context: ServiceContext) -> Response {
    let (path, expires) = sign(folder, seconds: seconds)
    return Response(json: [
      "url": .string(context.address.of(path)), "expires": .integer(expires),
    ])
  }
}
