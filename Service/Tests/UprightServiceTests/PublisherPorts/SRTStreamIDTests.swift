import Testing

@testable import UprightService

@Suite("The streamid of a publisher by SRT")
struct SRTStreamIDTests {
  @Test(
    "The plain form, and the form with keys in any order",
    arguments: [
      ("cam", "cam", ""),
      ("live/cam", "live/cam", ""),
      ("/live//cam/", "live/cam", ""),
      ("live/cam?key=K%41", "live/cam", "KA"),
      ("live%2Fcam%3Fkey%3DK", "live/cam", "K"),
      ("%23!::m=publish%2Cr=cam", "cam", ""),
      ("live/cam?a=b&key=K&key=L", "live/cam", "K"),
      ("live/cam?", "live/cam", ""),
      ("live%2Fc%61m", "live/cam", ""),
      ("live/100%", "live/100%", ""),
      ("#live", "#live", ""),
      ("#!::r=live/cam,m=publish", "live/cam", ""),
      ("#!::m=publish,r=live/cam?key=K", "live/cam", "K"),
      ("#!::u=me,m=publish,t=stream,x=1,r=/cam,h=", "cam", ""),
      ("#!::,m=publish,,r=a=b,", "a=b", ""),
    ])
  func reads(_ text: String, _ path: String, _ key: String) throws {
    let id = try SRTStreamID(text)
    #expect(id.path == path && id.key == key, "\(id)")
  }

  @Test(
    "Other forms are refused, and clients that play",
    arguments: [
      ("", .invalid), ("/", .invalid), ("?key=K", .invalid), ("a\u{0}b", .invalid),
      ("a%00b", .invalid),
      ("a\nb", .invalid), ("#!:", .invalid), ("#!:{r=a,m=publish}", .invalid),
      ("#!::", .mode), ("#!::r=cam", .mode), ("#!::r=cam,m=request", .mode),
      ("#!::r=cam,m=bidirectional", .mode), ("#!::r=cam,m=PUBLISH", .mode),
      ("#!::m=publish", .invalid), ("#!::r=,m=publish", .invalid),
      ("#!::r,m=publish", .invalid), ("#!::r=a,r=b,m=publish", .invalid),
      ("#!::r=a,m=publish,t=file", .invalid),
      (String(repeating: "n", count: 513), .invalid),
      (String(repeating: "é", count: 257), .invalid),
    ] as [(String, PublishRefusal.Code)])
  func refuses(_ text: String, _ code: PublishRefusal.Code) {
    let refusal = #expect(throws: PublishRefusal.self) { try SRTStreamID(text) }
    #expect(refusal?.code == code)
  }

  @Test("An identifier of 512 bytes")
  func longest() throws {
    let name = String(repeating: "n", count: 512)
    #expect(try SRTStreamID(name).path == name)
    let keys = "#!::m=publish,r=" + String(repeating: ",", count: 400) + "r=a"
    #expect(throws: PublishRefusal.self) { try SRTStreamID(keys) }
  }
}
