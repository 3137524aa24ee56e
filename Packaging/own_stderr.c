/* Linked into the libupright.so that has an FFmpeg of its own. Debian's static libraries of x264 and Opus expect that stderr is
 * in the program they are linked into, which a shared library can't offer. So this one has a variable of that name, which
 * nothing else sees, with the C library's value. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("hidden"))) void *stderr;

__attribute__((constructor(101))) static void take_stderr(void) {
  void **theirs = dlsym(RTLD_NEXT, "stderr");
  if (theirs != NULL) stderr = *theirs;
}
