/// An invalid argument of a kernel. Nothing is written when it is thrown.
public struct PixelKernelsError: Error, Sendable, Hashable {
  /// The kind of error. New codes may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// There is no kernel for the element or component size.
    public static let elementSize = Code(description: "elementSize")
    /// The destination doesn't have the size of the rotated source.
    public static let size = Code(description: "size")
    /// The rows of a plane overlap each other, or its size is negative or too large to address.
    public static let layout = Code(description: "layout")
    /// The transform can't be inverted, isn't finite, or shrinks too much.
    public static let transform = Code(description: "transform")
    /// The weight isn't in 0...256.
    public static let weight = Code(description: "weight")
  }

  /// The kind of error.
  public var code: Code
  /// What is wrong, and what is allowed.
  public var message: String
}

extension PixelKernelsError: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
