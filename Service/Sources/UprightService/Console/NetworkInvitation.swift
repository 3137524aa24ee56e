/// What the terminal shows of a service that the phones of its network reach: the console's address, as text and as a
/// QR code, and what a phone will ask.
struct NetworkInvitation: Sendable {
  /// The console's address, with a slash at its end.
  let console: String
  /// A code that logs in one browser. It is a part of the fragment, which no browser sends to a server or a proxy.
  let code: String
  /// The minutes until the code expires.
  let minutes: Int
  /// Whether browsers will ask, because the certificate is the service's own.
  let hasOwnCertificate: Bool

  var text: String {
    let link = "\(console)#/login/\(code)"
    var lines = ["The console is at \(console)", ""]
    if let picture = QRCode(link)?.blocks { lines += [picture] }
    lines += [
      "A phone in the same network scans the code. It logs in one phone, within \(minutes) minutes."
    ]
    if hasOwnCertificate {
      lines += [
        "The phone will say that the connection is not private: the certificate is this service's own.",
        "  iPhone, Safari: Show Details, visit this website, Visit Website",
        "  Android, Chrome: Advanced, Proceed",
        "It asks once: the certificate is kept.",
      ]
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension QRCode {
  /// The code as text with half blocks, two rows of modules to a line, in black on white whatever the terminal's
  /// colours are, with its quiet zone.
  var blocks: String {
    func isDark(_ x: Int, _ y: Int) -> Bool {
      (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
    }
    return stride(from: -4, to: size + 4, by: 2).map { y in
      let row = (-4..<size + 4).map { x in
        switch (isDark(x, y), isDark(x, y + 1)) {
        case (false, false): " "
        case (true, false): "\u{2580}"
        case (false, true): "\u{2584}"
        case (true, true): "\u{2588}"
        }
      }
      return "\u{1B}[30;107m" + row.joined() + "\u{1B}[0m"
    }.joined(separator: "\n")
  }
}
