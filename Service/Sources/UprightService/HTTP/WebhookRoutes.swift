internal import HTTPTypes
internal import Hummingbird
internal import UprightPolicy

/// `/v1/webhooks`: adds, lists and removes webhooks.
struct WebhookRoutes: Sendable {
  let webhooks: Webhooks
  let rules: AddressRules
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/webhooks") { request, context in
      let hook = try Webhook(await request.json(limit: bodyLimit), rules: rules)
      try webhooks.addAndKeep(hook)
      guard case .object(let members) = hook.json else { return Response(json: hook.json) }
      // The secret is returned only in this response.
      let answer = JSONValue.object(members + [.init("secret", .string(hook.receiver.secret))])
      var response = Response(.created, json: answer)
      response.headers[.location] = context.address.of("/v1/webhooks/\(hook.id)")
      return response
    }
    router.get("/v1/webhooks") { _, _ in
      Response(json: ["webhooks": .array(webhooks.all.map(\.json))])
    }
    router.delete("/v1/webhooks/:id") { _, context in
      try webhooks.remove(context.parameters.require("id"))
      return Response(status: .noContent)
    }
  }
}
