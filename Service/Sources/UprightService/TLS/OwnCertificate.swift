internal import Foundation
internal import NIOSSL
internal import UprightOrientation

/// The certificate that the service issues itself for its address in a network.
///
/// No authority has signed it, so a browser asks once whether to go on. It is kept: a browser that went on isn't asked
/// again after a restart.
enum OwnCertificate {
  /// The days for which it is valid: the most that Apple's systems accept.
  private static let days = 825
  /// It is replaced when less than this is left, in seconds: a week.
  private static let least = 7 * 86400

  /// Returns the path of the certificate for an address, in the service's state. The file has the key too, and is
  /// readable by its owner only. It is created if it doesn't exist or soon expires.
  ///
  /// - Parameter now: The time, in seconds since 1970.
  /// - Throws: `unavailable` if the program `openssl`, which makes it, can't be run; `cannotCreate` if the file can't
  ///   be written.
  static func path(
    for address: IPAddress, in folders: DataFolders, now: Int
  ) throws(UprightError) -> String {
    // Colons of IPv6 are kept out of the name.
    let name = address.description.replacing(":", with: "-")
    let path = try folders.state() + "/lan-\(name).pem"
    let kept = FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    let leaf = kept.flatMap { try? NIOSSLCertificate.fromPEMBytes($0) }?.first
    if let leaf, Int(leaf.notValidAfter) - now > least { return path }
    // One file, so that a key and a certificate of different runs never meet.
    guard PrivateFile.replace(path, with: try make(for: address), through: path + ".new")
    else {
      throw UprightError(
        .cannotCreate, "can't store the certificate", at: path, remedy: "check --data")
    }
    return path
  }

  /// Returns a new key and its certificate, in PEM format.
  private static func make(for address: IPAddress) throws(UprightError) -> Data {
    let request = """
      [req]
      prompt = no
      distinguished_name = name
      x509_extensions = own
      [name]
      CN = Upright at \(address)
      [own]
      subjectAltName = IP:\(address)
      basicConstraints = critical, CA:FALSE
      keyUsage = critical, digitalSignature
      extendedKeyUsage = serverAuth

      """
    let failure = UprightError(
      .unavailable, "the program openssl, which makes the certificate, can't be run", at: "openssl",
      remedy: "install openssl, or give a certificate with --tls-cert and --tls-key")
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
      "-nodes", "-days", String(days), "-keyout", "/dev/stdout", "-config", "/dev/stdin",
    ]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data(request.utf8))
      try input.fileHandleForWriting.close()
    } catch { throw failure }
    let made = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0, !made.isEmpty else { throw failure }
    return made
  }
}
