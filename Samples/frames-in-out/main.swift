// Frames in, frames out: a camera's raw frames come from somewhere, the phone is turned, and upright frames go
// to an encoder, in memory that is the caller's own. No FFmpeg.
import UprightFrames

/// Stands for a camera and its buffers: 1280x720, I420, with a bright stripe along its top edge.
struct Buffer {
  let format: FrameFormat
  private(set) var bytes: [UInt8]

  init(_ format: FrameFormat, filledWith value: UInt8 = 0) {
    self.format = format
    bytes = [UInt8](repeating: value, count: format.size.width * format.size.height * 3 / 2)
  }

  mutating func brightenTop() {
    for index in 0..<format.size.width * 32 { bytes[index] = 235 }
  }

  /// The three planes, one behind the other.
  mutating func withPlanes(_ body: (MutablePlaneSet) throws -> Void) rethrows {
    let (size, width) = (format.size, format.size.width)
    try bytes.withUnsafeMutableBytes { memory in
      guard let luma = memory.baseAddress else { return }
      let cb = luma + width * size.height
      let cr = cb + width / 2 * size.height / 2
      let planes = MutablePlaneSet(
        format.layout, size: size, (luma, width), (cb, width / 2), (cr, width / 2))
      if let planes { try body(planes) }
    }
  }

  /// Which edge the stripe is at.
  var brightEdge: String {
    let (width, height) = (format.size.width, format.size.height)
    let edges = [
      ("top", 16 * width + width / 2), ("bottom", (height - 16) * width + width / 2),
      ("left", height / 2 * width + 16), ("right", height / 2 * width + width - 16),
    ]
    return edges.first { bytes[$0.1] > 200 }?.0 ?? "none"
  }
}

var options = AdapterOptions()
options.frames = .sensor(Camera())
let adapter = try FrameAdapter(options)

var camera = Buffer(FrameFormat(.i420(), PixelSize(1280, 720)), filledWith: 128)
camera.brightenTop()
var last: FrameLayout?
for frame in 0..<90 {
  // From any thread, as the phone tells: it is turned at two seconds.
  if frame == 60 { try adapter.inbox.post([.now(.device(.landscapeLeft))]) }

  let time = MediaTime(Int64(frame), Rational(1, 30))
  let layout = try adapter.layout(of: camera.format, at: time)
  var output = Buffer(layout.target)
  try camera.withPlanes { source in
    try output.withPlanes { target in try adapter.draw(PlaneSet(source), layout, into: target) }
  }
  if layout.target != last?.target {
    // Open the encoder anew here, and begin with a keyframe.
    print("frame \(frame): \(layout.target.size), the stripe is \(output.brightEdge)")
  }
  last = layout
}
for decision in adapter.takeDecisions() {
  print("at \(decision.at) s: \(decision.outcome), the app is in \(decision.to.name)")
}
