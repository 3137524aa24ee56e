/// Where the media of sessions runs.
package enum WorkerMode: String, Sendable {
  /// In a process for each session.
  case process
  /// In the process of the service.
  case inProcess
}
