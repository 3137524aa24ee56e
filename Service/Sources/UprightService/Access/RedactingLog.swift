internal import Foundation
package import Logging

/// A log handler that removes secrets. Line format: `2026-01-02T03:04:05Z info upright: message`.
package struct RedactingLog: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level = .info
  private let label: String
  private let secrets: Secrets
  private let write: @Sendable (String) -> Void

  /// - Parameter write: Writes one line, line break included. Must tolerate that the log can't be written.
  package init(
    label: String, secrets: Secrets, write: @escaping @Sendable (String) -> Void
  ) {
    self.label = label
    self.secrets = secrets
    self.write = write
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    let time = Date().formatted(.iso8601)
    let line = secrets.redact("\(time) \(event.level) \(label): \(event.message)\(pairs)")
    // Text from a peer may contain line breaks or terminal escapes. One event must be one line.
    write(
      String(
        String.UnicodeScalarView(
          line.unicodeScalars.map {
            $0.properties.generalCategory == .control ? " " : $0
          })) + "\n")
  }
}
