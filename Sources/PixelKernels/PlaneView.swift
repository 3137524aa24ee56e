/// A plane to read: `height` rows of `width` elements. The element's size in bytes is said where the
/// plane is used; an NV12 chroma plane is a plane of 2-byte elements at half the luma's width.
///
/// The view borrows. Whoever makes one promises that every element stays readable, and that nobody
/// writes to it, for as long as the view is in use; after that the operations on it are safe.
@safe public struct PlaneView {
  /// The first element of the first row.
  public let base: UnsafeRawPointer
  /// Bytes from one row to the next; negative where the rows lie bottom-up.
  public let stride: Int
  /// Elements in a row.
  public let width: Int
  /// Rows.
  public let height: Int

  /// A view of `width` x `height` elements from `base` on.
  public init(_ base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
    unsafe self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }
}

/// A plane to write: `height` rows of `width` elements. Nothing but the elements is written: neither
/// the padding between the rows nor anything past the last one.
///
/// The view borrows. Whoever makes one promises that every element stays writable, and that nobody
/// else touches it, for as long as the view is in use; after that the operations on it are safe.
@safe public struct MutablePlaneView {
  /// The first element of the first row.
  public let base: UnsafeMutableRawPointer
  /// Bytes from one row to the next; negative where the rows lie bottom-up.
  public let stride: Int
  /// Elements in a row.
  public let width: Int
  /// Rows.
  public let height: Int

  /// A view of `width` x `height` elements from `base` on.
  public init(_ base: UnsafeMutableRawPointer, stride: Int, width: Int, height: Int) {
    unsafe self.base = base
    self.stride = stride
    self.width = width
    self.height = height
  }
}

extension PlaneView {
  /// The same plane, to be read.
  public init(_ plane: MutablePlaneView) {
    unsafe self.init(
      UnsafeRawPointer(plane.base), stride: plane.stride, width: plane.width, height: plane.height)
  }
}
