import Orientation
public struct DisplayOrientationTracker: Sendable { enum Codec { case h264, hevc }
 init(codec: Codec, configuration: [UInt8]) {}
 mutating func note(_ b: UnsafeRawBufferPointer, pts: Int64?) {}
 struct S { var turn: DisplayTurn }
 mutating func signal(at: Int64) -> S? { nil } }
