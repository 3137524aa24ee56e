/* Linked into libuprightpolicy.so, so that it runs with glibc 2.31 and the libstdc++ of GCC 10 too: what Swift's
 * runtime refers to is of the release that it was linked on. libraries.sh passes each function as --wrap. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These moved from libdl to libc in 2.34, and got another version there; hypot got one in 2.35. */
#define OLDER(name) __asm__(".symver older_" #name "," #name "@GLIBC_2.2.5")
OLDER(dlopen);
OLDER(dlsym);
OLDER(dlerror);
OLDER(dladdr);
OLDER(hypot);
void *older_dlopen(const char *name, int flags);
void *older_dlsym(void *library, const char *name);
char *older_dlerror(void);
int older_dladdr(const void *address, Dl_info *info);
double older_hypot(double x, double y);

void *__wrap_dlopen(const char *name, int flags) { return older_dlopen(name, flags); }
void *__wrap_dlsym(void *library, const char *name) { return older_dlsym(library, name); }
char *__wrap_dlerror(void) { return older_dlerror(); }
int __wrap_dladdr(const void *address, Dl_info *info) { return older_dladdr(address, info); }
double __wrap_hypot(double x, double y) { return older_hypot(x, y); }

/* A function since 2.33; an inline call of __xstat before. */
int __wrap_stat(const char *path, struct stat *status) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0);
}

/* GCC 11's, where libstdc++ is not linked statically. */
__attribute__((weak)) void _ZSt28__throw_bad_array_new_lengthv(void) { abort(); }

/* glibc 2.32's, which inline functions of libstdc++ read. 0 is right for any process: it may have threads. */
__attribute__((weak)) char __libc_single_threaded = 0;

/* glibc 2.36's, for std::random_device. A random number that doesn't come is no reason to go on with another one. */
__attribute__((weak)) uint32_t arc4random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}
