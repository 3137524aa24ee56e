internal import Upright
internal import UprightOrientation

extension WorkerMode {
  /// Returns how sessions are made.
  ///
  /// - Parameter program: The path of `upright-serve`.
  func makeSession(program: String = "/proc/self/exe") -> MakeSession {
    { (configuration, folders) throws(UprightError) in
      switch self {
      case .process: try WorkerSession(configuration, folders, program: program)
      case .inProcess: try LiveSession(configuration)
      }
    }
  }
}
