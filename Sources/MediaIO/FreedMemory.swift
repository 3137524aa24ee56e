internal import CFFmpegShims

/// What a process that runs for months does so that memory it has freed goes back to the system.
///
/// Every turn opens an encoder and closes another. Once large blocks have been freed, glibc takes the next
/// ones from its heaps, of which each thread has its own, and what is free there stays with the process.
package enum FreedMemory {
  /// Keeps what is large out of the heaps: the system gives it, and gets it back at once. For a process
  /// to call at its start.
  package static func keepLargeApart() { upright_malloc_keep_large_apart(256 << 10) }

  /// Gives back the pages that nothing is left on; a matter of a millisecond.
  package static func giveBack() { upright_malloc_trim() }
}
