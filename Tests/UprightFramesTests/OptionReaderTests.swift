import UprightKernels
import Testing

@testable import UprightFrames

@Suite("Options by name")
struct OptionReaderTests {
  private static func options(_ json: String) throws -> AdapterOptions {
    var reader = try OptionReader(json.utf8)
    let options = try AdapterOptions(PolicyDocument(), &reader)
    try reader.finish()
    return options
  }

  @Test("Every option of an adapter is read")
  func all() throws {
    let options = try Self.options(
      #"""
      {"frames": "sensor:270,front,mirror", "reference": "Gravity", "canvas": "landscape", "size": "720p",
       "fit": "fill", "anchor": "bottomLeading", "background": "#102030", "filter": "lanczos", "gravity": "iio"}
      """#)
    #expect(
      options.frames
        == .sensor(Camera(position: .front, sensorOrientation: 270, mirrors: true)))
    #expect(options.reference == .gravity && options.canvas == .landscape)
    #expect(options.size == PixelSize(720, 1280) && options.fit == .fill)
    #expect(options.anchor == .bottomLeading && options.filter == .lanczos)
    #expect(options.background == RGBColour(red: 16, green: 32, blue: 48))
    #expect(options.gravity == .iioSensorProxy)
  }

  @Test("Without options, the defaults remain", arguments: ["", "{}"])
  func none(_ json: String) throws {
    let options = try Self.options(json)
    #expect(options.frames == .metadata && options.canvas == nil && options.size == nil)
    #expect(options.filter == .bicubic && options.gravity == .android)
  }

  @Test("The canvas that is the frame itself is read")
  func frameCanvas() throws {
    #expect(try Self.options(#"{"canvas": "frame"}"#).canvas == .frame)
  }

  @Test(
    "An error names its option",
    arguments: [
      (#"{"frames": "round"}"#, "frames", "round is not a kind of frames"),
      (#"{"size": "720"}"#, "size", "\"720\" is not a size"),
      (#"{"fit": "cover"}"#, "fit", "cover is not valid"),
      (#"{"fit": [1]}"#, "fit", "a text or a number is expected"),
      (#"{"colour": "000000"}"#, "colour", "there is no such option"),
      ("[]", "options", "the options are not an object"),
    ])
  func wrong(_ json: String, _ location: String, _ message: String) throws {
    let error = try #require(throws: UprightError.self) { try Self.options(json) }
    #expect(error.code == .usage && error.location == location && error.message == message)
  }

  @Test("An event without a time takes effect at the next frame")
  func events() throws {
    let events = try StreamEvent.parse(
      jsonLines: "{\"lock\": true}\n\n{\"at\": 2, \"device\": \"faceUp\"}\n")
    #expect(events == [.now(.lock(true)), .at(2, .device(.faceUp))])
    for (text, location) in [
      ("{\"lock\": true}\n{}", "line 2"), ("{\"lock\": 1}", "line 1, lock"), ("\n{", "line 2"),
      ("{\"at\": -1, \"lock\": true}", "line 1, at"),
    ] {
      let error = try #require(throws: UprightError.self) { try StreamEvent.parse(jsonLines: text) }
      #expect(error.code == .badData && error.location.hasPrefix(location), "\(error)")
    }
  }

  @Test("A policy is a built-in one's name, or a document")
  func policies() throws {
    #expect(try PolicyDocument(nameOrJSON: "phone") == PolicyDocument.builtIn("phone"))
    #expect(try PolicyDocument(nameOrJSON: "{}") == PolicyDocument(json: "{}".utf8))
    #expect(throws: UprightError.self) { try PolicyDocument(nameOrJSON: "telephone") }
  }

  @Test("Planes whose rows overlap are refused before anything is drawn")
  func strides() throws {
    let adapter = try FrameAdapter()
    let format = FrameFormat(.gray, PixelSize(64, 48))
    let layout = try adapter.layout(of: format, at: MediaTime(0, Rational(1, 30)))
    let size = layout.target.size
    var source = [UInt8](repeating: 0, count: 64 * 48)
    var target = [UInt8](repeating: 7, count: size.width * size.height)
    for (from, to) in [(63, size.width), (64, size.width - 1), (64, .max), (.min, size.width)] {
      try source.withUnsafeMutableBytes { sources in
        try target.withUnsafeMutableBytes { targets in
          let read = PlaneSet(
            .gray, size: format.size, (UnsafeRawPointer(try #require(sources.baseAddress)), from))
          let write = MutablePlaneSet(.gray, size: size, (try #require(targets.baseAddress), to))
          #expect(throws: UprightError.self) {
            try adapter.draw(try #require(read), layout, into: try #require(write))
          }
        }
      }
    }
    #expect(target.allSatisfy { $0 == 7 })
  }
}
