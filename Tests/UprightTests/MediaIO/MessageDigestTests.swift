import Testing
import UprightMediaIO

/// Vectors of FIPS 180-4's examples and of RFC 4231. Costs nothing.
@Suite("Digests of messages") struct MessageDigestTests {
  @Test(
    "SHA-256",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
  func digest(_ text: String, _ expected: String) {
    #expect(MessageDigest.sha256(text.utf8).hexadecimal == expected)
  }

  /// A key, a message and its code.
  private static let codes: [([UInt8], [UInt8], String)] = [
    (
      [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ]

  @Test("HMAC-SHA-256", arguments: codes)
  func code(_ key: [UInt8], _ message: [UInt8], _ expected: String) {
    #expect(MessageDigest.hmacSHA256(message, key: key).hexadecimal == expected)
  }
}
