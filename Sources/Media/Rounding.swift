extension Double {
  /// Returns the nearest number with `places` decimal places, 0 to 6.
  package func rounded(toPlaces places: Int) -> Double {
    let factor = [1.0, 10, 100, 1000, 10_000, 100_000, 1_000_000][min(max(places, 0), 6)]
    return (self * factor).rounded() / factor
  }
}
