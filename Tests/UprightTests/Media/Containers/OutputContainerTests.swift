import UprightOrientation
import Testing

@testable import UprightMedia
@testable import UprightMediaIO

@Suite struct OutputContainerTests {
  @Test("Only HLS has another kind of segments")
  func segments() {
    #expect(OutputContainer.hls.with(.ts) == .hlsTS && OutputContainer.hls.with(.fmp4) == .hls)
    #expect(OutputContainer.mp4.with(.ts) == .mp4)
  }

  @Test("Names and schemes determine the container")
  func names() throws {
    let expected: [(String, OutputContainer)] = [
      ("a.mp4", .mp4), ("a.M4V", .mp4), ("b.MOV", .mov), ("x/y.m3u8", .hls), ("a.ts", .mpegts),
      ("a.flv", .flv), ("a.mkv", .matroska), ("a.webm", .webm), ("a.y4m", .y4m),
      ("rtmp://h/app/key", .flv), ("srt://h:9", .mpegts), ("udp://h:9", .mpegts),
      ("rtsp://h/cam", .rtsp),
      ("a.mkv.mp4", .mp4), ("odd:name.ts", .mpegts),
    ]
    for (name, container) in expected { #expect(try OutputContainer(target: name) == container) }
    #expect(try OutputContainer(target: "-", format: "mpegts") == .mpegts)
    for name in ["a", "-", "a.avi", "folder.d/a"] {
      let error = #expect(throws: UprightError.self) { try OutputContainer(target: name) }
      #expect(error?.code == .usage)
      #expect(error?.remedy.isEmpty == false)
    }
  }

  @Test("Defaults of the canvas, and containers that can follow")
  func defaults() {
    for container in OutputContainer.allCases {
      if container.defaultCanvas == .follow { #expect(container.canFollow) }
      #expect(container.canCarry(container.defaultCodec))
    }
    #expect(!OutputContainer.webm.canCarry(.h264))
    #expect(!OutputContainer.flv.canCarry(.hevc))
    #expect(!OutputContainer.y4m.canCarry(.h264))
    #expect(OutputContainer.mp4.canCarry(.av1))
  }
}
