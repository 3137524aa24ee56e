internal import Glibc

/// The processors of the machine.
package enum Processors {
  /// The number that work now.
  package static var count: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }
}
