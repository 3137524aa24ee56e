internal import Upright
internal import UprightOrientation

extension WorkerMode {
  /// Returns how sessions are made.
  ///
  /// - Parameter program: The path of `upright-serve`.
  func makeSession(program: String = "/proc/self/exe") -> MakeSession {
    switch self {
    case .process:
      let reserve = WorkerReserve(program)
      return { (configuration, folders) throws(UprightError) in
        try WorkerSession(configuration, folders, reserve)
      }
    case .inProcess:
      return { (configuration, _) throws(UprightError) in try LiveSession(configuration) }
    }
  }
}
