import Foundation

/// Waits until `isTrue` returns `true`. Returns `false` if it doesn't within `seconds`.
func waitUntil(_ seconds: Double = 120, _ isTrue: () async throws -> Bool) async throws -> Bool {
  let deadline = Date(timeIntervalSinceNow: seconds)
  while Date() < deadline {
    if try await isTrue() { return true }
    try await Task.sleep(for: .milliseconds(50))
  }
  return false
}
