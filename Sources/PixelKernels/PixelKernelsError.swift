/// Why a plane was not touched. Nothing is written when one of these is thrown.
public struct PixelKernelsError: Error, Sendable, Hashable {
  /// The kind of mistake; open, more may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The case's name.
    public let description: String

    /// The element or component size is none there is a kernel for.
    public static let elementSize = Code(description: "elementSize")
    /// The destination's size is not the source's, turned.
    public static let size = Code(description: "size")
    /// The rows of a plane overlap each other, or its size is negative or too large to address.
    public static let layout = Code(description: "layout")
    /// The transform cannot be undone, is not finite, or shrinks beyond all measure.
    public static let transform = Code(description: "transform")
    /// The weight is not in 0...256.
    public static let weight = Code(description: "weight")
  }

  /// What kind of mistake it is.
  public var code: Code
  /// What is wrong, and what would be right.
  public var message: String
}

extension PixelKernelsError: CustomStringConvertible {
  /// Code and message.
  public var description: String { "\(code): \(message)" }
}
