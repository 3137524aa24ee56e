/// The version of this package.
public enum UprightVersion {
  /// The version, such as `0.3.0`.
  public static let current = "0.3.0"
}
