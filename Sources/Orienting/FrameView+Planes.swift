internal import Orientation
internal import PixelKernels
internal import UprightMediaIO

/// One plane of a frame in the form that the kernels take.
struct FramePlane {
  let layout: PixelFormat.Plane
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
    var planes = PlaneList<FramePlane>()
    guard let layouts = format.planes, unsafe layouts.count <= starts.count else { return planes }
    for (index, layout) in layouts.enumerated() {
      let size = planeSize(layout)
      let plane = unsafe MutablePlaneView(
        starts[index], stride: strides[index], width: size.width, height: size.height)
      planes.append(
        FramePlane(
          layout: layout, plane: plane, components: layout.elementSize / format.sampleBytes))
    }
    return planes
  }
}

/// Runs a kernel. Converts its errors to `fault`, because refused arguments are an internal error.
func runKernel(_ body: () throws(PixelKernelsError) -> Void) throws(UprightError) {
  do throws(PixelKernelsError) { try body() } catch {
    throw UprightError(.fault, error.message)
  }
}
