/// The properties that the checks need of both kinds of view.
private protocol Plane {
  var stride: Int { get }
  var width: Int { get }
  var height: Int { get }
}

extension PlaneView: Plane {}
extension MutablePlaneView: Plane {}

extension PlaneView {
  /// The pointer type that the kernels take.
  var bytes: UnsafePointer<UInt8> { unsafe base.assumingMemoryBound(to: UInt8.self) }

  func check(elementSize: Int) throws(PixelKernelsError) {
    try checkLayout(self, elementSize)
  }

  func check(width: Int, height: Int) throws(PixelKernelsError) {
    try checkSize(self, width, height)
  }
}

extension MutablePlaneView {
  /// The pointer type that the kernels take.
  var bytes: UnsafeMutablePointer<UInt8> { unsafe base.assumingMemoryBound(to: UInt8.self) }

  func check(elementSize: Int) throws(PixelKernelsError) {
    try checkLayout(self, elementSize)
  }

  func check(width: Int, height: Int) throws(PixelKernelsError) {
    try checkSize(self, width, height)
  }
}

private func checkSize(
  _ plane: some Plane, _ width: Int, _ height: Int
) throws(PixelKernelsError) {
  guard plane.width == width, plane.height == height else {
    throw PixelKernelsError(
      code: .size,
      message: "a plane of \(plane.width)x\(plane.height) elements: \(width)x\(height) is needed")
  }
}

/// Checks that the rows don't overlap and that the whole plane is addressable.
private func checkLayout(_ plane: some Plane, _ elementSize: Int) throws(PixelKernelsError) {
  guard plane.width >= 0, plane.height >= 0 else {
    throw PixelKernelsError(
      code: .layout, message: "a plane of \(plane.width)x\(plane.height): a size is negative")
  }
  let (rowBytes, rowOverflow) = plane.width.multipliedReportingOverflow(by: elementSize)
  let (bytes, overflow) = plane.height.multipliedReportingOverflow(
    by: Int(clamping: max(plane.stride.magnitude, rowBytes.magnitude)))
  guard !rowOverflow, !overflow, bytes >= 0, plane.stride > .min else {
    throw PixelKernelsError(
      code: .layout,
      message: "\(plane.height) rows \(plane.stride) bytes apart do not fit the address space")
  }
  guard plane.height <= 1 || plane.stride.magnitude >= rowBytes.magnitude else {
    throw PixelKernelsError(
      code: .layout,
      message: "rows of \(rowBytes) bytes overlap at a stride of \(plane.stride)")
  }
}
