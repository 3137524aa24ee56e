internal import CFFmpegShims

/// Returns freed memory to the system, for a process that runs for months.
///
/// Every change of the rotation opens one encoder and closes another. Once large blocks have been freed,
/// glibc takes the next ones from its heaps. Each thread has one, and memory that is free there stays with
/// the process.
package enum HeapTrimming {
  /// Keeps large blocks out of the heaps, so that they are mapped from the system and returned at once. Call
  /// it when the process starts.
  package static func keepLargeApart() { upright_malloc_keep_large_apart(256 << 10) }

  /// Returns unused pages to the system. Takes about a millisecond.
  package static func giveBack() { upright_malloc_trim() }
}
