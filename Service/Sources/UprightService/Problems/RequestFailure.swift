/// Why a request to another server got no answer. The reason contains no addresses and no paths.
struct RequestFailure: Error, Sendable, Hashable {
  let reason: String
}
