#ifndef CUPRIGHT_WORKER_H
#define CUPRIGHT_WORKER_H

#include <stdbool.h>
#include <stddef.h>

// What Swift can't call: macros of control messages, and system calls without a function in the C library.

// Sends all bytes over a socket, with a descriptor unless it is -1. Returns 0, or -1 with errno.
int upright_worker_send(int socket, const void *_Nonnull bytes, size_t count, int descriptor);

// Receives exactly `count` bytes. A descriptor that comes with them is stored in `descriptor`, which is -1 otherwise;
// it is closed if `descriptor` is null. Returns 0, or -1 at the end of the stream and for errors.
int upright_worker_receive(int socket, void *_Nonnull bytes, size_t count, int *_Nullable descriptor);

// Closes all descriptors from `first` on.
void upright_worker_close_from(unsigned first);

// Opens a regular file below a folder, for reading: no link leads out of it. What isn't a regular file isn't opened at all.
// Returns the descriptor, or -1 with errno.
int upright_worker_open_beneath(int folder, const char *_Nonnull path);

// --- Confinement

// Returns a list of rules for files, without any; -1 if the kernel has no Landlock.
int upright_worker_rules(void);

// Adds a file, or a folder with all that is in it, to the rules. Returns 0, or -1 if there is none.
int upright_worker_allow(int rules, const char *_Nonnull path, bool writes);

// Forbids this thread and those that it starts new privileges, most of root's, and all other files. Closes the rules;
// without Landlock they are -1. Returns 0, or -1 with errno.
int upright_worker_enforce(int rules);

// Refuses to start programs, to look into other processes and to change the system, from now on. Returns 0, or -1 with
// errno.
int upright_worker_filter(void);

// Lets other sessions and the service have the processors first. Returns 0, or -1 with errno.
int upright_worker_yield(int niceness);

// Gives the session of the system, which `yield` has made, the same priority. Returns 0; 1 if the kernel is too busy for
// that and it must be tried again; -1 if it can't be.
int upright_worker_weigh(int niceness);

// Limits the address space, in bytes, and writes no core file. Returns 0, or -1 with errno.
int upright_worker_limit(unsigned long long memory);

#endif
