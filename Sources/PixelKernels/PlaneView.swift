/// A plane to read: `height` rows of `width` elements. The element's size in bytes is given where the plane
/// is used. An NV12 chroma plane is a plane of 2-byte elements with half the luma's width.
///
/// The view borrows its memory. The code that creates one must guarantee that every element stays readable,
/// and isn't written, while the view is in use. The operations on the view are then safe.
@safe public struct PlaneView {
  /// The first element of the first row.
  public let base: UnsafeRawPointer
  /// The number of bytes from one row to the next. Negative if the rows are stored bottom-up.
  public let stride: Int
  /// The number of elements in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int

  /// Creates a view of `width` x `height` elements from `base` on.
  public init(_ base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
    unsafe self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }
}

/// A plane to write: `height` rows of `width` elements. Only the elements are written, neither the padding
/// between the rows nor anything past the last row.
///
/// The view borrows its memory. The code that creates one must guarantee that every element stays writable,
/// and isn't accessed otherwise, while the view is in use. The operations on the view are then safe.
@safe public struct MutablePlaneView {
  /// The first element of the first row.
  public let base: UnsafeMutableRawPointer
  /// The number of bytes from one row to the next. Negative if the rows are stored bottom-up.
  public let stride: Int
  /// The number of elements in a row.
  public let width: Int
  /// The number of rows.
  public let height: Int

  /// Creates a view of `width` x `height` elements from `base` on.
  public init(_ base: UnsafeMutableRawPointer, stride: Int, width: Int, height: Int) {
    unsafe self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }
}

extension PlaneView {
  /// Creates a view of the same plane for reading.
  public init(_ plane: MutablePlaneView) {
    unsafe self.init(
      UnsafeRawPointer(plane.base), stride: plane.stride, width: plane.width, height: plane.height)
  }
}
