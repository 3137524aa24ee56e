// For LD_PRELOAD into tests with the thread sanitizer: reports locks to it that it can't detect.
//
// Locking an uncontended Mutex of Swift's Synchronization library is an atomic operation in instrumented
// code. A contended one is locked in that library, which is not instrumented: the sanitizer would report
// every access in such a critical section as a race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// The library's functions: `_MutexHandle._lockSlow(UInt32)` and `_MutexHandle._unlockSlow()`.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

// Programs that a test starts have no sanitizer, and don't define these functions.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

SWIFT void lock(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT void unlock(SELF mutex) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF mutex) {
  ((SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK))(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock(SELF mutex) {
  if (__tsan_release) __tsan_release(mutex);
  ((SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
