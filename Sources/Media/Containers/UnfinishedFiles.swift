internal import Glibc
internal import Synchronization

/// The temporary files of a running session, so that they can be removed if the process must exit
/// immediately.
package final class UnfinishedFiles: Sendable {

  package init() {
  }
  private let paths = Mutex<Set<String>>([])

  package func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

  package func remove(_ path: String) { paths.withLock { _ = $0.remove(path) } }

  package func removeAll() {
    paths.withLock { paths in
      for path in paths { _ = unsafe unlink(path) }
      paths.removeAll()
    }
  }
}
