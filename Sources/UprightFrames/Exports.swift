// The types of public signatures come with the product.
@_exported public import Orientation
@_exported public import PixelKernels
@_exported public import RotationPolicy
