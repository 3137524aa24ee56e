/// The version of this package.
package enum UprightVersion {
  /// The version, such as `0.2.0`.
  package static let current = "0.2.0"
}
