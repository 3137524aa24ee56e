// The types of public signatures come with the product.
@_exported public import UprightContainers
@_exported public import UprightEncoding
@_exported public import UprightFiles
@_exported public import UprightFrames
@_exported public import UprightLive
@_exported public import UprightMediaIO
@_exported public import UprightPipeline
