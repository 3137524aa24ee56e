internal import Hummingbird
internal import UprightPolicy

/// `GET /v1/sessions/{id}/publish-address`: what the operator of a session enters in the program that publishes to it.
struct PublishAddressRoutes: Sendable {
  let sessions: Sessions
  /// An address of this machine in its network; `nil` if it has none.
  let local: IPAddress?

  func add(to router: Router<ServiceContext>) {
    router.get("/v1/sessions/:id/publish-address") { _, context in
      let hosted = try sessions.find(context)
      var response = Response(json: try fields(of: hosted, at: context.address))
      // It has the key.
      response.headers[.cacheControl] = "no-store"
      return response
    }
  }

  private func fields(of hosted: HostedSession, at address: PublicURL) throws(Problem) -> JSONValue
  {
    if hosted.input.whip != nil {
      let url = address.of("/whip/\(hosted.id)")
      return [
        "protocol": "whip", "server": .string(url), "key": .string(hosted.input.publishKey),
        "passphrase": .null, "url": .string(url), "phone": .null,
      ]
    }
    guard let publish = hosted.input.publish else {
      throw .conflict("the session has no address for publishers: it reads its input itself")
    }
    let host = publish.host(asked: address.host)
    let phone = publish.phoneHost(asked: address.host, local: local).map { publish.url(at: $0) }
    return [
      "protocol": .string(publish.scheme), "server": .string(publish.server(at: host)),
      "key": .string(publish.key),
      "passphrase": publish.passphrase.map { .string($0) } ?? .null,
      "url": .string(publish.url(at: host)),
      "phone": phone.map { ["url": .string($0), "qr": QRCode($0)?.json ?? .null] } ?? .null,
    ]
  }
}
