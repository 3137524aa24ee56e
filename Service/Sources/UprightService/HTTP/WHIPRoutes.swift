internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// `/whip/{session}`: publishers from browsers (RFC 9725), for pages of any origin.
struct WHIPRoutes: Sendable {
  let sessions: Sessions
  /// The values of `Link` headers for the ICE servers.
  let iceLinks: [String]

  func add(to router: Router<ServiceContext>) {
    router.post("/whip/:id") { request, context in
      try await publish(request, sessions.find(context))
    }
    router.delete("/whip/:id/:publication") { _, context in
      try await publication(context).end()
      return Response(status: .ok, headers: Self.crossOrigin)
    }
    router.patch("/whip/:id/:publication") { request, context in
      try await patch(request, publication(context))
    }
    for path in ["/whip/:id", "/whip/:id/:publication"] as [RouterPath] {
      router.on(path, method: .options) { _, _ in preflight() }
    }
  }

  /// The headers that allow pages of any origin to read a response.
  static let crossOrigin: HTTPFields = [
    .accessControlAllowOrigin: "*",
    .accessControlExposeHeaders: "Location, ETag, Link, Retry-After, Accept-Patch, Allow",
  ]

  private var headers: HTTPFields {
    var headers = Self.crossOrigin
    for link in iceLinks { headers.append(HTTPField(name: .link, value: link)) }
    return headers
  }

  private func preflight() -> Response {
    var headers = headers
    headers[.accessControlAllowMethods] = "POST, PATCH, DELETE"
    headers[.accessControlAllowHeaders] = "Authorization, Content-Type, If-Match"
    headers[.accessControlMaxAge] = "86400"
    headers[.acceptPost] = "application/sdp"
    return Response(status: .noContent, headers: headers)
  }

  // MARK: - Requests

  private func publish(_ request: Request, _ hosted: HostedSession) async throws -> Response {
    let input = try Self.input(of: hosted)
    guard !hosted.hasEnded else { throw Problem.conflict("the session has ended") }
    let bytes = try await Self.body(request, "application/sdp")
    let offer = try PublishOffer(bytes)
    let isFirst = try sessions.admitPublisher(of: hosted.id)
    let publication: Publication
    do { publication = try await input.publish(offer) } catch {
      if isFirst { sessions.waitAgain(hosted.id) }
      throw error
    }
    var headers = headers
    headers[.contentType] = "application/sdp"
    headers[.cacheControl] = "no-store"
    headers[.location] = "/whip/\(hosted.id)/\(publication.id)"
    headers[.eTag] = publication.etag
    headers[.acceptPatch] = CandidateFragment.type
    return Response(
      status: .created, headers: headers,
      body: .init(byteBuffer: ByteBuffer(string: publication.answer)))
  }

  private func patch(_ request: Request, _ publication: Publication) async throws -> Response {
    guard let wanted = request.headers[.ifMatch] else {
      throw Problem(
        .preconditionRequired, "Precondition required", "send If-Match with the ETag of the answer")
    }
    // RFC 9725, 4.3.2.
    let restarts = wanted == "*"
    guard restarts || wanted == publication.etag else {
      throw Problem(
        .preconditionFailed, "Precondition failed", "the ETag is not that of this publication")
    }
    let bytes = try await Self.body(request, CandidateFragment.type)
    let fragment = try CandidateFragment(bytes)
    var response = Response(status: .noContent, headers: Self.crossOrigin)
    guard !restarts || fragment.credentials != nil else {
      throw Problem.badRequest("an ICE restart needs a=ice-ufrag and a=ice-pwd")
    }
    do throws(JanusError) {
      if restarts, let credentials = fragment.credentials {
        let own = try await publication.restart(credentials)
        response = Response(
          status: .ok, headers: Self.crossOrigin, body: .init(byteBuffer: ByteBuffer(string: own)))
        response.headers[.contentType] = CandidateFragment.type
        response.headers[.eTag] = publication.etag
      }
      if !fragment.candidates.isEmpty { try await publication.trickle(fragment.candidates) }
    } catch {
      throw Problem(janus: error)
    }
    return response
  }

  // MARK: - Parts of requests

  /// - Throws: `Problem` 409 if the session has another input.
  static func input(of hosted: HostedSession) throws(Problem) -> WHIPInput {
    guard let input = hosted.input.whip else {
      throw .conflict("the session's input isn't WHIP; create it with \"input\": {\"whip\": {}}")
    }
    return input
  }

  /// - Throws: `Problem` 404 if there is none, also in a session whose input isn't WHIP.
  private func publication(_ context: ServiceContext) throws -> Publication {
    guard let input = try sessions.find(context).input.whip else {
      throw Problem.notFound("there is no such publication")
    }
    return try input.find(context.parameters.require("publication"))
  }

  /// Returns the body of a request.
  ///
  /// - Throws: `Problem` 415 if its type isn't `type`, 413 if it is too long.
  private static func body(_ request: Request, _ type: String) async throws -> [UInt8] {
    let given = request.headers[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
    guard given == type else {
      throw Problem(
        .unsupportedMediaType, "Unsupported media type", "send Content-Type: \(type)")
    }
    return try await request.bytes(limit: PublishOffer.mostBytes)
  }
}

extension HTTPField.Name {
  /// RFC 8288.
  static let link = Self.known("Link")
  /// RFC 5789, 3.1.
  static let acceptPatch = Self.known("Accept-Patch")
  /// The types that POST accepts.
  static let acceptPost = Self.known("Accept-Post")
}
