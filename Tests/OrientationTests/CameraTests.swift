import UprightOrientation
import Testing

@Suite("Camera")
struct CameraTests {
  @Test("An iPhone's two cameras")
  func iPhone() {
    let back = Camera(position: .back)
    let front = Camera(position: .front)
    #expect(back.sensorOrientation == 90 && !back.mirrors)
    let rows: [(DeviceOrientation, Int, Int)] = [
      (.portrait, 90, 90), (.landscapeRight, 180, 0), (.portraitUpsideDown, 270, 270),
      (.landscapeLeft, 0, 180),
    ]
    for (device, backDegrees, frontDegrees) in rows {
      #expect(back.clockwiseDegrees(for: device) == backDegrees)
      #expect(front.clockwiseDegrees(for: device) == frontDegrees)
      #expect(back.turn(for: device)?.clockwiseDegrees == backDegrees)
      #expect(front.turn(for: device)?.isMirrored == false)
    }
    for device in [DeviceOrientation.unknown, .faceUp, .faceDown] {
      #expect(back.turn(for: device) == nil)
      #expect(front.clockwiseDegrees(for: device) == nil)
    }
  }

  @Test("Mirroring is applied after the rotation")
  func mirrors() {
    for device in [DeviceOrientation.portrait, .landscapeLeft, .landscapeRight] {
      let plain = Camera(position: .front).turn(for: device)
      let mirrored = Camera(position: .front, mirrors: true).turn(for: device)
      #expect(mirrored == plain?.then(.upMirrored))
    }
    let selfie = Camera(position: .front, mirrors: true)
    #expect(selfie.turn(for: .portrait) == .leftMirrored)
  }

  @Test("Any sensor orientation; only a multiple of 90 has an ImageOrientation")
  func sensors() {
    for sensor in [0, 90, 180, 270, -90, 450, Int.max, Int.min] {
      for position in Camera.Position.allCases {
        let camera = Camera(position: position, sensorOrientation: sensor)
        for device in DeviceOrientation.allCases {
          guard let degrees = camera.clockwiseDegrees(for: device) else { continue }
          #expect((0..<360).contains(degrees))
          #expect((camera.turn(for: device) != nil) == sensor.isMultiple(of: 90))
        }
      }
    }
    #expect(Camera(sensorOrientation: 270).turn(for: .portrait) == .left)
    #expect(Camera(sensorOrientation: 30).clockwiseDegrees(for: .landscapeRight) == 120)
    #expect(Camera(sensorOrientation: 30).turn(for: .landscapeRight) == nil)
  }
}
