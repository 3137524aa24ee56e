#if DEBUG
extension FuzzTarget {
  static let all: [FuzzTarget] = [.addresses, .amf, .http, .rtmp]
}
#endif
