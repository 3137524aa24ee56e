import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightLive

/// Each kind of live input, read by the same session.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized, .tags(.waits))
struct LiveInputTests {
  @Test("A file is read once, in real time")
  func file() throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.mp4")
    try FFmpegTool.run(
      "-f lavfi -i \(DecodedFrames.source) -f lavfi -i sine=f=440 -t 2 -c:v libx264 -preset "
        + "ultrafast -c:a aac", [path])
    let folder = scratch.path("hls")
    let begun = Date()
    let stage = try LiveTestSession([.hls(folder: folder)], input: .file(path: path))
    #expect(stage.session.join(timeout: 60))
    // Not faster than real time.
    #expect(Date().timeIntervalSince(begun) > 1.5)
    #expect(stage.states == [.live, .ended])
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(shown.sizes.allSatisfy { $0 == PixelSize(160, 90) })
    let counters = stage.session.snapshot.counters
    #expect(counters.framesIn == 60)
    let left = counters.dropped.values.reduce(0, +)
    #expect(shown.times.count + left == 60, "\(counters.dropped)")
  }

  @Test("With invalid input, the session fails with a reason")
  func notMedia() throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.mp4")
    try Data("no clip".utf8).write(to: URL(fileURLWithPath: path))
    for input in [LiveInput.file(path: path), .file(path: scratch.path("none.mp4"))] {
      let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))], input: input)
      #expect(stage.session.join(timeout: 30))
      #expect(stage.states == [.failed] && stage.session.snapshot.reason?.isEmpty == false)
    }
    // A session description is parsed before anything starts.
    let error = #expect(throws: UprightError.self) {
      try LiveTestSession([.hls(folder: scratch.path("hls"))], input: .rtp(description: "v=0"))
    }
    #expect(error?.code == .badData)
    // Invalid data from a publisher does not end the session.
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    try #require(stage.feed.begin())
    _ = stage.feed.write([UInt8](repeating: 7, count: 5000))
    stage.feed.end()
    let clip = try FLVClip(DecodedFrames.source, seconds: 1)
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.counters.framesOut > 5 })
    stage.end()
    #expect(stage.states.prefix(2) == [.waiting, .live], "waiting is reported, then live")
    #expect(!stage.feed.begin(), "an ended session accepts no publisher")
  }

  @Test("ffmpeg sends MPEG-TS over TCP, disconnects and reconnects")
  func pull() throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let port = try Loopback.freeTCPPort()
    let url = "tcp://127.0.0.1:\(port)"
    let stage = try LiveTestSession([.hls(folder: folder)], input: .pull(url: "\(url)?listen"))
    func send(_ size: String) throws {
      // Connections are refused until the session listens (again).
      var lastError: (any Error)?
      let sent = until {
        do {
          try FFmpegTool.run(
            "-re -f lavfi -i testsrc2=s=\(size):r=25 -f lavfi -i sine=f=440 -t 2 -c:v libx264 "
              + "-preset ultrafast -g 25 -pix_fmt yuv420p -c:a aac -f mpegts \(url)")
          return true
        } catch {
          lastError = error
          return false
        }
      }
      #expect(sent, "\(String(describing: lastError))")
    }
    try send("160x90")
    #expect(until { stage.session.snapshot.state == .inputLost })
    try send("90x160")
    #expect(until { stage.session.snapshot.counters.inputLosses == 2 })
    stage.end()
    // The publisher may begin late.
    let states = stage.states.drop { $0 == .waiting }
    #expect(states.prefix(4) == [.live, .inputLost, .live, .inputLost])
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(shown.longestStep < 0.2 && shown.shortestStep > 0)
    #expect(stage.formats.count == 2)
  }

  @Test("After the input timeout the session ends, and its output can be played")
  func timeout() throws {
    let scratch = try Scratch()
    let clip = try FLVClip(DecodedFrames.source, seconds: 1)
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))]) { $0.inputTimeout = 1 }
    stage.feed.lose(packets: 3)
    try stage.publish(clip.tags)
    #expect(stage.session.join(timeout: 30))
    // What the acceptor of the publisher has told.
    #expect(stage.session.snapshot.counters.packetsLost == 3)
    #expect(stage.states == [.live, .inputLost, .ended])
    #expect(stage.session.snapshot.reason?.contains("no input for 1") == true)
    #expect(try DecodedFrames(scratch.path("hls/index.m3u8"), scratch).times.count > 40)
  }

  @Test(
    "RTP input: CVO rotates from its frame on; BYE by RTCP, on its own port or the same, ends it",
    arguments: [
      RTPSender.ExtensionForm.oneByte, .twoByte,
    ])
  func rtp(_ form: RTPSender.ExtensionForm) throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let port = try Loopback.freePort()
    let controlPort = form == .oneByte ? port : try Loopback.freePort()
    let description = """
      v=0
      o=- 0 0 IN IP4 127.0.0.1
      s=-
      c=IN IP4 127.0.0.1
      t=0 0
      m=video \(port) RTP/AVP 96
      a=rtpmap:96 H264/90000
      a=extmap:4 urn:3gpp:video-orientation
      \(form == .oneByte ? "a=rtcp-mux" : "a=rtcp:\(controlPort) IN IP4 127.0.0.1")
      """
    let clip = try SentClip(
      .h264, count: 90, interval: 15, source: ["-f", "lavfi", "-i", DecodedFrames.source])
    let turns = (0..<90).map { UInt8($0 < 50 ? 0 : 1) }
    let stage = try LiveTestSession([.hls(folder: folder)], input: .rtp(description: description))
    var sender = RTPSender(.h264)
    sender.form = form
    let said = clip.coordination(turns)
    // Packets sent before the socket is bound are lost.
    #expect(until { Loopback.isReceived(port) })
    let socket = try Loopback.Datagrams(port)
    let begun = Date()
    for (index, frame) in clip.frames.enumerated() {
      let wait = begun.addingTimeInterval(Double(index) / 30).timeIntervalSinceNow
      if wait > 0 { usleep(UInt32(wait * 1e6)) }
      // A packet that never comes.
      if index == 80 { _ = sender.packet([], ticks: index * 3000, isLast: true, cvo: nil) }
      for packet in sender.packets(frame, ticks: index * 3000, cvo: said[index]) {
        socket.send(packet)
      }
    }
    #expect(until { stage.session.snapshot.seconds > 2.3 })
    #expect(stage.session.snapshot.state == .live)
    // It is given up after a while.
    #expect(until { stage.session.snapshot.counters.packetsLost == 1 })
    #expect(stage.session.snapshot.counters.keyframeInterval == 0.5)
    let source = sender.packet([], ticks: 0, isLast: true, cvo: nil)[8..<12]
    try Loopback.Datagrams(controlPort).send([0x81, 203, 0, 1] + source)
    #expect(until { stage.session.snapshot.state == .inputLost })
    stage.end()
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    let turned = try #require(shown.sizes.firstIndex(of: PixelSize(90, 160)))
    #expect(abs(shown.times[turned] - 50.0 / 30) < 0.001, "\(shown.times[turned])")
    #expect(shown.corners[..<turned].allSatisfy { $0 == "tl" })
    // Frames repeated at the end have the rotation of the last one.
    #expect(shown.corners[turned...].allSatisfy { $0 == "tr" })
  }

  @Test("Valid and invalid session descriptions")
  func descriptions() throws {
    let text = """
      v=0\r
      m=audio 5000 RTP/SAVPF 111 63\r
      c=IN IP4 10.0.0.1/127\r
      a=rtpmap:111 opus/48000/2\r
      a=rtpmap:63 red/48000/2\r
      m=video 5002 RTP/AVP 97 98\r
      a=rtpmap:97 H263/90000\r
      a=rtpmap:98 H264/90000\r
      a=fmtp:98 packetization-mode=1; sprop-parameter-sets=Z0IAHg==,aM48gA==\r
      a=extmap:13/sendonly urn:3gpp:video-orientation:6\r
      """
    let read = try SessionDescription(text)
    #expect(read.video.port == 5002 && read.video.codec.map { "\($0)" } == "h264")
    #expect(read.video.payloadType == 98)
    #expect(read.video.address == "0.0.0.0")
    #expect(read.video.extensions == [13: "urn:3gpp:video-orientation:6"])
    #expect(
      read.video.parameterSets
        == [0, 0, 0, 1, 0x67, 0x42, 0, 0x1E, 0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80])
    #expect(read.audio?.codec.map { "\($0)" } == "opus" && read.audio?.redundancy == 63)
    #expect(read.audio?.address == "10.0.0.1")
    #expect(Set(read.controlPorts.map(\.port)) == [5001, 5003])
    for line in ["a=rtcp-mux", "a=rtcp:x", "a=rtcp:0", "a=rtcp:5000 IN IP4 10.0.0.1"] {
      let other = try SessionDescription(text + "\r\n" + line)
      #expect(other.controlPorts.map(\.port) == [5001], "\(line)")
    }
    let silent = try SessionDescription(text.replacing("m=audio 5000", with: "m=audio 0"))
    #expect(silent.audio == nil && silent.video.port == 5002)
    let shared = LiveInput.rtp(description: text.replacing("5000", with: "5002"))
    #expect(throws: UprightError.self) { try shared.ports() }
    for text in [
      "", "v=0", "m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000", "m=video x RTP/AVP 96",
      "m=video 99999 RTP/AVP 96", "m=video 5000 UDP/TLS 96",
      "m=video 5000 RTP/AVP 96\na=rtpmap:96 H265/90000",
      "c=IN\nm=video 5000 RTP/AVP 96", "m=audio 5000 RTP/AVP 0",
      "m=video 5000 RTP/AVP 96\na=rtpmap:96 H264/90000\na=extmap:x",
    ] {
      let error = #expect(throws: UprightError.self) { try SessionDescription(text) }
      #expect(error?.code == .badData)
    }
  }
}
