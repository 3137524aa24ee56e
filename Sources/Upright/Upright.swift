// The types of public signatures come with the product.
@_exported public import UprightMedia
@_exported public import UprightFiles
@_exported public import UprightFrames
@_exported public import UprightLive
@_exported public import UprightMediaIO
