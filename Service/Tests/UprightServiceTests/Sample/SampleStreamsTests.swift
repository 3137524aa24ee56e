import Testing
import UprightOrientation

@testable import UprightService

@Suite("What the phone of the sample films")
struct SampleStreamsTests {
  @Test("The sample's streams have the same groups, each begins with a keyframe, and sound goes on")
  func streams() {
    let streams = SampleStreams()
    #expect(streams.groups == 40 && streams.parameters.count == 2)
    var sounds = 0
    for held in [DeviceOrientation.portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight] {
      for number in 0..<streams.groups * 2 {
        let tags = streams.group(number, held: held)
        let bytes = tags.map { $0.bytes(at: 0x0102_0304) }
        let pictures = bytes.filter { $0[0] == 9 }
        #expect(pictures.count == 5 && pictures[0][11] >> 4 == 1)
        #expect(pictures.dropFirst().allSatisfy { $0[11] >> 4 == 2 })
        #expect(bytes.allSatisfy { Array($0[4..<8]) == [2, 3, 4, 1] })
        let times = tags.map(\.milliseconds)
        #expect(times == times.sorted() && times.allSatisfy { $0 / 200 == number % 40 })
        if held == .portrait, number < streams.groups { sounds += bytes.count { $0[0] == 8 } }
      }
    }
    // Eight seconds of 48 kHz in frames of 1024 samples.
    #expect(sounds == 375)
    #expect(streams.group(0, held: .faceUp).isEmpty)
  }
}
