internal import CUprightHeader
internal import Glibc
internal import UprightOrientation

/// An eventfd (eventfd(2)), for hosts that wait by poll or epoll. Closed with its last reference.
final class EventDescriptor: Sendable {
  let number: Int32

  /// - Throws: `usage` if the process has too many files.
  init() throws(UprightError) {
    number = event_descriptor_open()
    guard number >= 0 else {
      throw UprightError(
        .usage, "no descriptor can be made", at: "eventfd", remedy: "close files of the process")
    }
  }

  deinit { close(number) }

  /// Makes it readable.
  func signal() { event_descriptor_signal(number) }
}
