internal import Foundation
internal import UprightOrientation

extension ServiceConfiguration {
  /// Returns the configuration of a service that the phones of the same network reach: with `lan`, it listens on this
  /// machine's address there, with a certificate. Otherwise it is returned as it is.
  ///
  /// - Parameters:
  ///   - local: The address of this machine in its network; `nil` if it has none.
  ///   - now: The time, in seconds since 1970.
  /// - Throws: `unavailable` if there is no such address, and what `OwnCertificate` throws.
  func inNetwork(
    _ folders: DataFolders, local: IPAddress?, now: Int
  ) throws(UprightError) -> ServiceConfiguration {
    guard lan else { return self }
    var configuration = self
    let asked = IPAddress(listen.host)
    let isGiven = asked.map { ![.loopback, .unspecified].contains($0.scope) } ?? true
    guard let address = isGiven ? asked : local else {
      throw UprightError(
        .unavailable, isGiven ? "isn't an address" : "this machine has no address in a network",
        at: isGiven ? listen.host : "--lan",
        remedy: "name an address of this machine: --listen HOST:PORT")
    }
    // A host for all addresses stays, and loopback alone is what no phone reaches.
    if asked?.scope == .loopback { configuration.listen.host = address.description }
    if tlsCert == nil {
      let path = try OwnCertificate.path(for: address, in: folders, now: now)
      (configuration.tlsCert, configuration.tlsKey) = (path, path)
      configuration.hasOwnCertificate = true
    }
    configuration.lanAddress = address
    return configuration
  }
}
