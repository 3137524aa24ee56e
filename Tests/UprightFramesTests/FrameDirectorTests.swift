import UprightOrientation
import UprightPolicy
import Testing
import UprightFrames

@Suite("One policy for several canvases")
struct FrameDirectorTests {
  @Test("Each canvas has its own formats, the decision is one")
  func canvases() throws {
    var options = AdapterOptions()
    options.frames = .sensor(Camera())
    options.size = PixelSize(720, 1280)
    var director = try FrameDirector(options)
    director.add(
      DirectedCanvas(.portrait, guidance: StreamGuidance(encodeSize: PixelSize(360, 640))))
    director.add(
      DirectedCanvas(.initial, guidance: StreamGuidance(encodeSize: PixelSize(480, 640))))
    try director.push(RotationEvent(at: 1, .device(.landscapeLeft)))
    let size = PixelSize(1280, 720)
    var before: [FrameDirection] = []
    try director.directAll(at: 0, size: size, signal: nil, into: &before)
    #expect(
      before.map(\.canvas) == [PixelSize(720, 1280), PixelSize(360, 640), PixelSize(480, 640)])
    var after: [FrameDirection] = []
    try director.directAll(at: 1, size: size, signal: nil, into: &after)
    #expect(
      after.map(\.canvas) == [PixelSize(1280, 720), PixelSize(360, 640), PixelSize(480, 640)])
    for directions in [before, after] {
      #expect(directions.allSatisfy { $0.turn == directions[0].turn })
      #expect(directions.allSatisfy { $0.canvas == $0.format.encodeResolution })
      #expect(
        directions.allSatisfy {
          $0.format.appOrientation == directions[0].format.appOrientation
        })
    }
    #expect(before[0].turn != after[0].turn)
    #expect(director.takeEntries().map(\.at) == [1])
    director.removeCanvas(at: 0)
    // What was there before is replaced.
    try director.directAll(at: 2, size: size, signal: nil, into: &after)
    #expect(after.map(\.canvas) == [PixelSize(1280, 720), PixelSize(480, 640)])
  }

  @Test("A canvas that is the frame has even sizes where encoders are behind it")
  func evenFrame() throws {
    var options = AdapterOptions()
    options.canvas = .frame
    var director = try FrameDirector(options)
    director.add(DirectedCanvas(.frame, guidance: .standard))
    var directions: [FrameDirection] = []
    try director.directAll(
      at: 0, size: PixelSize(131, 71), signal: DisplayTurn(.right), into: &directions)
    #expect(directions.map(\.canvas) == [PixelSize(70, 130), PixelSize(70, 130)])
    #expect(directions.allSatisfy { $0.format.encodeResolution == $0.canvas })
  }
}
