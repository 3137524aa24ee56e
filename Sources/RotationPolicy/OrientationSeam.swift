internal import Orientation

// Until Orientation names its values and classifies gravity itself.
extension DeviceOrientation { var name: String { "\(self)" } }
extension InterfaceOrientation { var name: String { "\(self)" } }
