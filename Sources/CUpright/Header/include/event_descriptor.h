/* An eventfd (eventfd(2)), which Swift's module of the C library leaves out. Not installed. */
#include <sys/eventfd.h>

/* Returns a descriptor, or -1. */
static inline int event_descriptor_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* Makes a descriptor readable. */
static inline void event_descriptor_signal(int descriptor) { eventfd_write(descriptor, 1); }
