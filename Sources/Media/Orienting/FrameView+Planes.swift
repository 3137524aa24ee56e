internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// One plane of a frame in the form that the kernels take.
struct FramePlane {
  let layout: PixelLayout.Plane
  /// The plane, measured in elements.
  let plane: MutablePlaneView
  /// The number of samples per element: 2 in NV12's chroma.
  let components: Int

  /// A read-only view of the plane.
  var readable: PlaneView { PlaneView(plane) }

  /// The plane, measured in samples.
  var samples: MutablePlaneView {
    unsafe MutablePlaneView(
      plane.base, stride: plane.stride, width: plane.width * components, height: plane.height)
  }
}

extension FrameView {
  /// The planes; empty if the format has no simple planes.
  var framePlanes: PlaneList<FramePlane> {
    var list = PlaneList<FramePlane>()
    guard let planes else { return list }
    for (index, layout) in planes.layout.planes.enumerated() {
      list.append(
        FramePlane(
          layout: layout, plane: planes[index],
          components: layout.elementSize / format.sampleBytes))
    }
    return list
  }
}

/// Runs a kernel. Converts its errors to `fault`, because refused arguments are an internal error.
func runKernel<R>(_ body: () throws(PixelKernelsError) -> R) throws(UprightError) -> R {
  do throws(PixelKernelsError) { return try body() } catch {
    throw UprightError(.fault, error.message)
  }
}
