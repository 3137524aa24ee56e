// The types of public signatures come with the product.
@_exported public import UprightOrientation
@_exported public import UprightKernels
@_exported public import UprightPolicy
