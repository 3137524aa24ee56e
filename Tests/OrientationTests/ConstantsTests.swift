import UprightOrientation
import Testing
import UprightTestSupport

@Suite("Device, interface, mask: UIKit's values and names")
struct ConstantsTests {
  @Test("Raw values, names and the conversion from device to interface")
  func table() {
    let rows: [(DeviceOrientation, Int, String, InterfaceOrientation?, Int?)] = [
      (.unknown, 0, "unknown", nil, nil),
      (.portrait, 1, "portrait", .portrait, 0),
      (.portraitUpsideDown, 2, "portraitUpsideDown", .portraitUpsideDown, 180),
      (.landscapeLeft, 3, "landscapeLeft", .landscapeRight, 270),
      (.landscapeRight, 4, "landscapeRight", .landscapeLeft, 90),
      (.faceUp, 5, "faceUp", nil, nil),
      (.faceDown, 6, "faceDown", nil, nil),
    ]
    #expect(rows.map(\.0) == DeviceOrientation.allCases)
    for (device, raw, name, interface, degrees) in rows {
      #expect(device.rawValue == raw)
      #expect(device.name == name)
      #expect(device.interface == interface)
      #expect(device.clockwiseDegrees == degrees)
      #expect(device.isFlat == (raw >= 5))
      for word in [name, name.uppercased(), name.lowercased()] {
        #expect(DeviceOrientation(name: word) == device)
      }
      #expect(interface.map { $0.device == device } ?? true)
    }
    for word in ["", "portrait ", "landscape", "left", "1"] {
      #expect(DeviceOrientation(name: word) == nil)
    }
  }

  @Test("Interface names and mask bits")
  func masks() {
    let rows: [(InterfaceOrientation, Int, String, Int)] = [
      (.unknown, 0, "unknown", 0), (.portrait, 1, "portrait", 2),
      (.portraitUpsideDown, 2, "portraitUpsideDown", 4),
      (.landscapeRight, 3, "landscapeRight", 8), (.landscapeLeft, 4, "landscapeLeft", 16),
    ]
    #expect(rows.map(\.0) == InterfaceOrientation.allCases)
    for (interface, raw, name, mask) in rows {
      #expect(interface.rawValue == raw)
      #expect(interface.name == name)
      #expect(InterfaceOrientation(name: name.uppercased()) == interface)
      #expect(InterfaceOrientationMask(interface).rawValue == mask)
      #expect(
        InterfaceOrientationMask(name: name)
          == (interface == .unknown ? nil : InterfaceOrientationMask(interface)))
      #expect(InterfaceOrientationMask.all.contains(interface) == (interface != .unknown))
    }
    #expect(InterfaceOrientation(name: "faceUp") == nil)
    #expect(InterfaceOrientationMask(name: "none") == nil)
    #expect(InterfaceOrientationMask(name: "ALLBUTUPSIDEDOWN") == .allButUpsideDown)
  }

  @Test("A mask's name is the one that creates the mask")
  func maskNames() {
    for raw in 0..<64 {
      let mask = InterfaceOrientationMask(rawValue: raw)
      if let name = mask.name { #expect(InterfaceOrientationMask(name: name) == mask) }
    }
    #expect(InterfaceOrientationMask.landscape.name == "landscape")
    #expect(InterfaceOrientationMask([.portrait, .landscapeLeft]).name == nil)
    #expect(InterfaceOrientationMask([]).name == nil)
    #expect(InterfaceOrientationMask(rawValue: 3).name == nil)
  }

  @Test("The eight names of image orientations, and UIImageOrientation's different order")
  func imageNames() {
    let words = [
      "up", "upMirrored", "down", "downMirrored", "leftMirrored", "right", "rightMirrored", "left",
    ]
    #expect(ImageOrientation.allCases.map(\.name) == words)
    for orientation in ImageOrientation.allCases {
      #expect(ImageOrientation(name: orientation.name.uppercased()) == orientation)
      #expect(ImageOrientation(uiImageOrientation: orientation.uiImageOrientation) == orientation)
    }
    #expect(ImageOrientation(name: "mirrored") == nil)
    #expect(ImageOrientation(uiImageOrientation: 8) == nil)
    #expect(ImageOrientation(uiImageOrientation: -1) == nil)
  }

  @Test(
    "Vectors: uikit_orientation_constants")
  func vectors() throws {
    for entry in try Fixtures.vectors("uikit_orientation_constants")["cases"].array {
      let values = entry["values"].object.compactMapValues(\.int)
      switch entry["id"].string {
      case "UIDeviceOrientation":
        #expect(values.count == 7)
        for (word, raw) in values { #expect(DeviceOrientation(name: word)?.rawValue == raw) }
      case "UIInterfaceOrientation":
        #expect(values.count == 5)
        for (word, raw) in values { #expect(InterfaceOrientation(name: word)?.rawValue == raw) }
      case "UIInterfaceOrientationMask":
        #expect(values.count == 7)
        for (word, raw) in values { #expect(InterfaceOrientationMask(name: word)?.rawValue == raw) }
      case "UIImageOrientation":
        #expect(values.count == 8)
        for (word, raw) in values {
          #expect(ImageOrientation(name: word)?.uiImageOrientation == raw)
        }
      case "device_to_interface":
        for pair in entry["cases"].array {
          let device = try #require(DeviceOrientation(name: pair["device"].string ?? ""))
          // The reference maps unknown to unknown. Here unknown, like the flat orientations, has no
          // interface orientation.
          let interface = pair["interface"].string.flatMap { InterfaceOrientation(name: $0) }
          #expect(device.interface == (interface == .unknown ? nil : interface))
        }
      case "portrait_landscape_predicates":
        for (word, predicates) in entry["interface"].object {
          let interface = try #require(InterfaceOrientation(name: word))
          #expect(interface.isLandscape == predicates.array.contains(.string("isLandscape")))
        }
      case "supported_defaults":
        #expect(InterfaceOrientationMask.all.rawValue == 30)
        #expect(InterfaceOrientationMask.allButUpsideDown.rawValue == 26)
      // An empty mask raises an exception in UIKit; here the rotation policy handles it, not this
      // library.
      default:
        Issue.record("case \(entry["id"]) is not used")
      }
    }
  }
}
