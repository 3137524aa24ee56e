public import UprightOrientation

/// Where an HLS output has its files if not in a folder: a place that other machines write to as well.
///
/// All calls may block, until `abandon`.
public protocol HLSStore: Sendable {
  /// The address of the files, for messages.
  var address: String { get }
  /// Saves a segment, or an init segment, under a name that no other file has. It is complete when this returns.
  ///
  /// - Throws: `inputOutput` if it can't be saved, `cancelled` after `abandon`.
  func save(_ bytes: [UInt8], as name: String) throws(UprightError)
  /// Writes the playlist `name` for the first time in a run.
  ///
  /// - Parameters:
  ///   - name: The playlist's file name.
  ///   - make: Returns the text, which continues the one that an earlier writer has left; `nil` if there is none.
  ///     Called again if that writer has published another one in the meantime.
  /// - Throws: `superseded` if a later writer has the playlist.
  func claim(_ name: String, _ make: (_ earlier: String?) -> String) throws(UprightError)
  /// Replaces the playlist `name`, which this writer wrote last.
  ///
  /// - Throws: `superseded` if another writer has taken it.
  func publish(_ text: String, as name: String) throws(UprightError)
  /// Removes a segment that no player may request any more. A file that can't be removed now is tried again with
  /// later ones.
  func remove(_ name: String)
  /// Ends the calls that wait, and makes later ones fail. Can be called on any thread.
  func abandon()
}
