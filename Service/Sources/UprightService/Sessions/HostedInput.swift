internal import UprightPolicy

/// The input of a session as it was requested, and the service's side of its publisher.
struct HostedInput: Sendable {
  /// The requested input, without secrets.
  let description: JSONValue
  /// The credential for publishing to this session and for its state and events.
  let publishKey: String
  /// The secrets in the session's addresses, and its keys.
  let secrets: [String]
  /// The session's stream path at an RTMP or SRT port, released when it ends.
  let claim: PublishAcceptor.Claim?
  /// If a publisher created the session: the template, and the route of this publisher and those that return.
  let admission: (template: String, route: PublishRoutes.Route)?
  /// Where the session's publisher connects; `nil` if there is none, or it comes by WHIP or from a template.
  let publish: PublishAddress?
  /// The publisher of the sample; otherwise `nil`.
  let sample: SamplePublisher?
  /// The publisher of a session whose input is WHIP; otherwise `nil`.
  let whip: WHIPInput?
}
