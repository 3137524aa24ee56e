@_exported public import UprightFiles
@_exported public import UprightLive
