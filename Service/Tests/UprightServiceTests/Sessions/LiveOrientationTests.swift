import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

extension LiveServiceMedia {
  /// RTP through the service, with CVO that changes during the stream.
  @Suite("CVO")
  struct LiveOrientationTests {
    private static func description(
      _ port: UInt16, _ uri: String, at address: String = "127.0.0.1"
    ) -> String {
      let lines = [
        "v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=-", "c=IN IP4 \(address)", "t=0 0",
        "m=video \(port) RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=extmap:4 \(uri)",
      ]
      return "{\"sdp\": \"\(lines.joined(separator: "\\r\\n"))\"}"
    }

    /// Sends the clip at 30 frames per second, with the CVO byte of each frame.
    private static func send(
      _ clip: SentClip, to port: UInt16, form: RTPSender.ExtensionForm, turns: [UInt8],
      group: String? = nil
    ) async throws {
      let socket = try Loopback.Datagrams(port, group: group)
      let said = clip.coordination(turns)
      var sender = RTPSender(.h264)
      sender.form = form
      let packets = clip.frames.indices.map {
        sender.packets(clip.frames[$0], ticks: $0 * 3000, cvo: said[$0])
      }
      try await RunningService.onThread {
        let begun = Date()
        for (index, frame) in packets.enumerated() {
          let wait = begun.addingTimeInterval(Double(index) / 30).timeIntervalSinceNow
          if wait > 0 { usleep(UInt32(wait * 1e6)) }
          frame.forEach(socket.send)
        }
      }
    }

    private static func clip(_ count: Int) throws -> SentClip {
      try SentClip(
        .h264, count: count, interval: 15, source: ["-f", "lavfi", "-i", DecodedFrames.source])
    }

    struct Case: Sendable, CustomTestStringConvertible {
      let form: RTPSender.ExtensionForm
      let uri: String
      /// The CVO bytes before and after the rotation changes.
      let before: UInt8
      let behind: UInt8
      var testDescription: String { "\(form), \(uri.suffix(1) == "6" ? "six" : "two") bits" }
    }

    private static let plain = "urn:3gpp:video-orientation"
    /// With six bits, 6 degrees round to no rotation and 51 degrees to a quarter turn; two bits would round
    /// both to no rotation.
    private static let cases = RTPSender.ExtensionForm.allCases.flatMap {
      [
        Case(form: $0, uri: plain, before: 0, behind: 1),
        Case(form: $0, uri: plain + ":6", before: 0x10, behind: 0x90),
      ]
    }

    @Test("The rotation changes at exactly the frame with the new CVO", arguments: cases)
    func turn(_ test: Case) async throws {
      let port = try Loopback.freePort()
      let clip = try Self.clip(80)
      let trial = try await LiveServiceFixture(Self.description(port, test.uri))
      #expect(Loopback.isReceived(port))
      // The change is neither at a keyframe nor at the end of a segment.
      let turns = (0..<80).map { $0 < 40 ? test.before : test.behind }
      try await Self.send(clip, to: port, form: test.form, turns: turns)
      try await trial.shows(2.6)
      let shown = try await trial.playedFrames()
      let turned = try #require(
        shown.sizes.firstIndex(of: PixelSize(90, 160)), "\(shown.corners)")
      #expect(abs(shown.times[turned] - 40.0 / 30) < 0.001, "\(shown.times)")
      #expect(shown.corners[..<turned].allSatisfy { $0 == "tl" }, "\(shown.corners)")
      #expect(shown.corners[turned...].allSatisfy { $0 == "tr" }, "\(shown.corners)")
    }

    @Test("A multicast group is joined")
    func group() async throws {
      let port = try Loopback.freePort()
      // From the organization-local scope (RFC 2365, 6.2).
      let group = "239.195.77.\(port % 254 + 1)"
      let service = try await RunningService(make: LiveServiceFixture.make(.metadata))
      let made = try await service.session(
        "group", input: Self.description(port, Self.plain, at: "\(group)/1"))
      if made.status == 409, made.text.contains("No such device") {
        return print("skipped: no interface leads to a multicast group")
      }
      try #require(made.status == 201, "\(made.text)")
      let clip = try Self.clip(30)
      try await Self.send(
        clip, to: port, form: .oneByte, turns: Array(repeating: 1, count: 30), group: group)
      #expect(
        try await waitUntil {
          try await service.ask("GET", "/v1/sessions/group").json["counters"]["framesIn"].int == 30
        })
      let ended = try await service.ask("DELETE", "/v1/sessions/group")
      #expect(ended.json["state"].string == "ended")
      let shown = try await service.playedFrames("group")
      #expect(shown.corners.count >= 30 && shown.corners.allSatisfy { $0 == "tr" })
      try await service.shutDown()
    }

    @Test(
      "Events from the API and CVO from the stream: a lock over HTTP holds the canvas against CVO")
    func both() async throws {
      let port = try Loopback.freePort()
      let clip = try Self.clip(150)
      let trial = try await LiveServiceFixture(Self.description(port, Self.plain))
      // The stream is rotated from frame 30 on, except for frames 90 to 119.
      let turns = (0..<150).map { UInt8((30..<90).contains($0) || $0 >= 120 ? 1 : 0) }
      async let sent: Void = Self.send(clip, to: port, form: .oneByte, turns: turns)
      try await trial.shows(1.4)
      let locked = try await trial.service.ask(
        "POST", "/v1/sessions/trial/events", "{\"at\": 2, \"lock\": true}")
      #expect(locked.status == 200 && locked.json["pending"].int == 1, "\(locked.text)")
      try await sent
      try await trial.shows(4.9)
      let shown = try await trial.playedFrames()
      let tall = PixelSize(90, 160)
      let first = try #require(shown.sizes.firstIndex(of: tall))
      #expect(abs(shown.times[first] - 1) < 0.001, "\(shown.times)")
      // The lock holds the canvas. The frames in it are upright anyway.
      #expect(shown.sizes[first...].allSatisfy { $0 == tall })
      for range in [1..<3.0, 4..<4.9] {
        let corners = shown.corners(range)
        #expect(!corners.isEmpty && corners.allSatisfy { $0 == "tr" }, "\(corners)")
      }
      // A landscape frame is a third as high in the tall canvas, so no quarter of the canvas is white.
      let lying = shown.corners(3..<4.0)
      #expect(!lying.isEmpty && lying.allSatisfy { $0 == "?" }, "\(lying)")
    }
  }
}
