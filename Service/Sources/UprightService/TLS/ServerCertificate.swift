internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import UprightOrientation
internal import Synchronization
internal import Upright

/// The certificate of the service's TLS ports, read from PEM files.
///
/// A connection uses the certificate that was current when it was accepted, until it is closed.
final class ServerCertificate: Sendable {
  /// The paths of the files.
  struct Files: Sendable, Hashable {
    /// The certificate, followed by the intermediate certificates if there are any.
    var certificate: String
    /// The private key, which isn't encrypted.
    var key: String
  }

  private let files: Files
  private let logger: Logger
  private let context: Mutex<NIOSSLContext>

  /// - Throws: `configuration` if a file can't be read or isn't PEM, or if the key isn't that of the
  ///   certificate.
  init(_ files: Files, logger: Logger) throws(UprightError) {
    self.files = files
    self.logger = logger
    context = Mutex(try Self.read(files, logger))
  }

  /// Reads the files again, for new connections.
  ///
  /// - Throws: As `init`. The previous certificate stays in use then.
  func reload() throws(UprightError) {
    let new = try Self.read(files, logger)
    context.withLock { $0 = new }
  }

  /// Returns the handler that decrypts and encrypts one connection.
  func makeHandler() -> NIOSSLServerHandler {
    NIOSSLServerHandler(context: context.withLock { $0 })
  }

  private static func read(_ files: Files, _ logger: Logger) throws(UprightError) -> NIOSSLContext {
    let option = "--tls-cert and --tls-key"
    let certificateBytes = try ServiceConfiguration.contents(of: files.certificate, named: option)
    let keyBytes = try ServiceConfiguration.contents(of: files.key, named: option)
    let chain: [NIOSSLCertificate]
    do { chain = try NIOSSLCertificate.fromPEMBytes([UInt8](certificateBytes)) } catch {
      throw wrong("isn't a certificate in PEM format", files.certificate, "--tls-cert")
    }
    guard let leaf = chain.first else {
      throw wrong("contains no certificate in PEM format", files.certificate, "--tls-cert")
    }
    let key: NIOSSLPrivateKey
    do { key = try NIOSSLPrivateKey(bytes: [UInt8](keyBytes), format: .pem) } catch {
      throw wrong("isn't an unencrypted private key in PEM format", files.key, "--tls-key")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    // A peer that doesn't answer the end of the connection must not delay a shutdown.
    configuration.shutdownTimeout = .seconds(1)
    let context: NIOSSLContext
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      throw wrong("isn't the private key of \(files.certificate)", files.key, "--tls-key")
    }
    warn(leaf, files.certificate, logger)
    return context
  }

  private static func warn(_ leaf: NIOSSLCertificate, _ path: String, _ logger: Logger) {
    let now = time(nil)
    if leaf.notValidAfter < now {
      logger.warning("the certificate in \(path) has expired; clients will reject it")
    } else if leaf.notValidBefore > now {
      logger.warning("the certificate in \(path) isn't valid yet; check the clock")
    }
  }

  private static func wrong(_ message: String, _ path: String, _ option: String) -> UprightError {
    UprightError(.configuration, message, at: path, remedy: "check \(option)")
  }
}
