internal import Orientation
internal import PixelKernels
internal import UprightMediaIO

/// One plane of a picture as the kernels take it.
struct PicturePlane {
  let layout: PixelFormat.Plane
  /// The plane, counted in elements.
  let plane: MutablePlaneView
  /// Samples that lie side by side in one element: 2 in NV12's chroma.
  let components: Int

  /// The plane, to be read.
  var readable: PlaneView { PlaneView(plane) }

  /// The plane counted in samples.
  var samples: MutablePlaneView {
    unsafe MutablePlaneView(
      plane.base, stride: plane.stride, width: plane.width * components, height: plane.height)
  }
}

extension PictureView {
  /// The planes; empty for a format without simple ones.
  var picturePlanes: PlaneList<PicturePlane> {
    var planes = PlaneList<PicturePlane>()
    guard let layouts = format.planes, unsafe layouts.count <= starts.count else { return planes }
    for (index, layout) in layouts.enumerated() {
      let size = planeSize(layout)
      let plane = unsafe MutablePlaneView(
        starts[index], stride: strides[index], width: size.width, height: size.height)
      planes.append(
        PicturePlane(
          layout: layout, plane: plane, components: layout.elementSize / format.sampleBytes))
    }
    return planes
  }
}

/// Runs a kernel; what it refuses is our own fault.
func runKernel(_ body: () throws(PixelKernelsError) -> Void) throws(MediaError) {
  do throws(PixelKernelsError) { try body() } catch {
    throw MediaError(.fault, error.message)
  }
}
