// A recorder in a conferencing server (SFU): access units go in with the video orientation (CVO) that the
// sender's RTP packets carried, and fragmented MP4 comes out, upright, in memory.
//
//     sfu-recorder INPUT.h264 OUTPUT.mp4
//
// INPUT stands for what the server receives: access units of 30 frames per second that begin with a delimiter.
// The phone is turned at frame 45. OUTPUT has the first format, and OUTPUT-1.mp4 the second one.
import Foundation
import Upright

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let input = arguments.first, let output = arguments.last else {
  print("usage: sfu-recorder INPUT.h264 OUTPUT.mp4")
  exit(64)
}
let clock = Rational(1, 90_000)

/// Splits a stream into access units: each begins with a NAL unit of type 9.
func accessUnits(_ bytes: [UInt8]) -> [[UInt8]] {
  let starts = bytes.indices.dropLast(5).filter {
    bytes[$0..<$0 + 4] == [0, 0, 0, 1] && bytes[$0 + 4] & 0x1F == 9
  }
  return zip(starts, starts.dropFirst() + [bytes.count]).map { Array(bytes[$0..<$1]) }
}

/// Returns whether an access unit has an IDR slice.
func isKey(_ unit: [UInt8]) -> Bool {
  unit.indices.dropLast(4).contains { unit[$0..<$0 + 3] == [0, 0, 1] && unit[$0 + 3] & 0x1F == 5 }
}

let units = accessUnits(Array(try Data(contentsOf: URL(fileURLWithPath: input))))
let session = try PacketSession(VideoDescription(.h264), timeBase: clock)

// One task sends. `send` waits while the session is behind; an event loop would call `offer`.
let sending = Task {
  for (index, unit) in units.enumerated() {
    let cvo = CVO(index < 45 ? .right : .up)
    let packet = EncodedPacket(
      unit, pts: Int64(index) * 3000, timeBase: clock, isKey: isKey(unit), cvo: cvo)
    try await session.send(packet)
  }
  session.finish()
}

// Another one receives. A change of format begins another file here; in HLS it would be a discontinuity.
let segments = MovieSegments(timeBase: clock)
var files: [Data] = []
var packets = 0
for try await element in session.output {
  switch element {
  case .format(let change, let description):
    print("frame \(packets): \(change.format.encodeResolution), turned \(change.turn?.name ?? "?")")
    if !files.isEmpty { files[files.count - 1] += try segments.cut() }
    files.append(Data(try segments.begin(description)))
  case .packet(let packet):
    if packet.isKey, packets > 0 { files[files.count - 1] += try segments.cut() }
    try segments.append(packet)
    packets += 1
  case .decision(let decision):
    print("\(decision.at) s: \(decision.outcome), the app is in \(decision.to.name)")
  case .refused(let error): print("\(error)")
  }
}
files[files.count - 1] += try segments.cut()
try await sending.value
for (index, file) in files.enumerated() {
  let name = index == 0 ? output : "\(output.dropLast(4))-\(index).mp4"
  try file.write(to: URL(fileURLWithPath: name))
}
print("\(packets) packets in \(files.count) files")
