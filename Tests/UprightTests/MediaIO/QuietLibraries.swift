import Foundation
import Upright

/// Like the command: the libraries write nothing to standard error, and their errors are part of messages.
enum QuietLibraries {
  private static let installed: Void = {
    setenv("SVT_LOG", "0", 0)
    UprightRuntime.installLog(upTo: .error) { _, _ in }
  }()

  static func install() { installed }
}
