internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Synchronization
internal import UprightOrientation

/// An open device of hardware encoders. The encoder of a new format shares it with the one that it replaces, because
/// opening one takes up to a second.
///
/// Sendable because libavutil's devices are used by any thread.
final class HardwareDevice: @unchecked Sendable {
  let raw: UnsafeMutablePointer<AVBufferRef>

  private struct Key: Hashable {
    let family: HardwareFamily
    let device: String?
  }

  private struct Entry {
    weak var device: HardwareDevice?
  }

  private static let opened = Mutex<[Key: Entry]>([:])

  private init(_ raw: UnsafeMutablePointer<AVBufferRef>) { self.raw = raw }

  deinit {
    var pointer: UnsafeMutablePointer<AVBufferRef>? = raw
    av_buffer_unref(&pointer)
  }

  /// Returns the device of an encoder, open.
  ///
  /// - Throws: `unavailable` if it can't be opened.
  static func shared(
    by encoder: NamedEncoder, _ family: HardwareFamily
  ) throws(UprightError) -> HardwareDevice {
    let key = Key(family: family, device: encoder.device)
    return try opened.withLock { (opened) throws(UprightError) in
      if let device = opened[key]?.device { return device }
      let device = HardwareDevice(try open(encoder, family))
      opened[key] = Entry(device: device)
      return device
    }
  }

  private static func open(
    _ encoder: NamedEncoder, _ family: HardwareFamily
  ) throws(UprightError) -> UnsafeMutablePointer<AVBufferRef> {
    // Quick Sync works on a device of VA-API.
    let isChild = family == .qsv
    let options = isChild ? encoder.device.map { [("child_device", $0)] } ?? [] : []
    var raw: UnsafeMutablePointer<AVBufferRef>?
    _ = upright_log_take_error()
    let code = try withDictionary(options) { options throws(UprightError) in
      av_hwdevice_ctx_create(&raw, family.device, isChild ? nil : encoder.device, options, 0)
    }
    if code >= 0, let raw { return raw }
    let name =
      "\(encoder.device.map { "the device \($0)" } ?? "the first device") of \(family.interface)"
    throw UprightError(
      .unavailable, "\(encoder.name) can't open \(name): \(explain(code))",
      at: "--encoder \(encoder.text)",
      remedy: "\(family.remedy(encoder.name)), or use --codec \(encoder.codec.rawValue)"
    ).reporting(code)
  }
}

extension HardwareFamily {
  /// libavutil's kind of device.
  fileprivate var device: AVHWDeviceType {
    switch self {
    case .vaapi: AV_HWDEVICE_TYPE_VAAPI
    case .nvenc: AV_HWDEVICE_TYPE_CUDA
    case .qsv: AV_HWDEVICE_TYPE_QSV
    }
  }

  /// The name of the interface, for messages.
  fileprivate var interface: String {
    switch self {
    case .vaapi: "VA-API"
    case .nvenc: "CUDA"
    case .qsv: "Quick Sync Video"
    }
  }

  /// What gives a machine a device.
  fileprivate func remedy(_ encoder: String) -> String {
    switch self {
    case .vaapi, .qsv:
      "see ls /dev/dri and vainfo, name a device by --encoder \(encoder)@/dev/dri/renderD128"
    case .nvenc: "see nvidia-smi, install NVIDIA's driver"
    }
  }
}
