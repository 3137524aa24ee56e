import Foundation

/// Memory with an inaccessible page on either side. An access outside ends the process.
final class GuardedMemory {
  /// The first accessible byte.
  let start: UnsafeMutablePointer<UInt8>
  /// The end of the accessible bytes.
  let end: UnsafeMutablePointer<UInt8>
  private let region: UnsafeMutableRawPointer
  private let length: Int

  /// Allocates at least `bytes` bytes.
  init(bytes: Int) throws {
    let page = 4096
    let inside = (max(bytes, 1) + page - 1) / page * page
    length = inside + 2 * page
    let mapped = mmap(
      nil, length, PROT_READ | PROT_WRITE, Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS), -1, 0)
    guard let mapped, mapped != MAP_FAILED else { throw POSIXError(.ENOMEM) }
    region = mapped
    start = (mapped + page).assumingMemoryBound(to: UInt8.self)
    end = start + inside
    mprotect(mapped, page, PROT_NONE)
    mprotect(mapped + page + inside, page, PROT_NONE)
  }

  deinit { munmap(region, length) }
}
