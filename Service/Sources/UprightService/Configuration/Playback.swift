/// Who may play a session's HLS output.
package enum Playback: String, Sendable {
  /// Everyone.
  case open
  /// Players with a signed URL.
  case signed
}
