// Counts calls of the allocator by the module that made them: to be preloaded.
//
//   clang -O2 -shared -fPIC allocations.c -o allocations.so
//   ALLOCATIONS=FILE LD_PRELOAD=./allocations.so COMMAND
//
// FILE gets one line a module, "count bytes path"; with ALLOCATIONS_STACKS set as well, one line a stack
// "count module+offset module+offset ...", the innermost first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { MOST_MODULES = 512, MOST_STACKS = 1 << 14, DEPTH = 24 };

struct module {
  uintptr_t base, start, end;
  const char *path;
  _Atomic uint64_t count, bytes;
};

struct stack {
  _Atomic uint64_t key, count;
  void *frames[DEPTH];
  int depth;
};

static struct module modules[MOST_MODULES];
static _Atomic int known;
static struct stack *stacks;
static _Atomic uint64_t elsewhere;
// Set while this thread is in here: what the counting itself asks for does not count.
static __thread int busy __attribute__((tls_model("initial-exec")));

static int add(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  const int before = atomic_load(&known);
  for (int i = 0; i < before; i++)
    if (modules[i].base == info->dlpi_addr) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    int count = atomic_load(&known);
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || count == MOST_MODULES) continue;
    struct module *m = &modules[count];
    m->base = info->dlpi_addr;
    m->start = m->base + part->p_vaddr;
    m->end = m->start + part->p_memsz;
    m->path = info->dlpi_name[0] ? info->dlpi_name : "(executable)";
    atomic_store(&known, count + 1);
  }
  return 0;
}

static struct module *known_module(uintptr_t address) {
  int count = atomic_load_explicit(&known, memory_order_acquire);
  for (int i = 0; i < count; i++)
    if (address >= modules[i].start && address < modules[i].end) return &modules[i];
  return NULL;
}

// What is not known yet may have been opened since: looked for again, a few times.
static struct module *module_of(uintptr_t address) {
  static _Atomic int looked;
  struct module *m = known_module(address);
  if (m || atomic_fetch_add(&looked, 1) > 64) return m;
  dl_iterate_phdr(add, NULL);
  return known_module(address);
}

// Where the stack is kept: open addressing, by a hash of its frames.
static void note_stack(void) {
  void *frames[DEPTH + 3];
  int depth = backtrace(frames, DEPTH + 3) - 3;
  if (depth < 1) return;
  uint64_t key = 1469598103934665603u;
  for (int i = 0; i < depth; i++) key = (key ^ (uintptr_t)frames[i + 3]) * 1099511628211u;
  for (uint64_t i = 0; i < MOST_STACKS; i++) {
    struct stack *s = &stacks[(key + i) % MOST_STACKS];
    uint64_t expected = 0;
    if (atomic_compare_exchange_strong(&s->key, &expected, key)) {
      memcpy(s->frames, frames + 3, sizeof(void *) * depth);
      s->depth = depth;
    } else if (expected != key) {
      continue;
    }
    atomic_fetch_add(&s->count, 1);
    return;
  }
}

static void note(size_t bytes, void *caller) {
  if (busy) return;
  busy = 1;
  struct module *m = module_of((uintptr_t)caller);
  if (m) {
    atomic_fetch_add_explicit(&m->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->bytes, bytes, memory_order_relaxed);
  } else {
    atomic_fetch_add_explicit(&elsewhere, 1, memory_order_relaxed);
  }
  if (stacks) note_stack();
  busy = 0;
}

__attribute__((constructor)) static void begin(void) {
  busy = 1;
  if (getenv("ALLOCATIONS_STACKS")) {
    void *frame;
    backtrace(&frame, 1);
    stacks = __libc_calloc(MOST_STACKS, sizeof *stacks);
  }
  busy = 0;
}

__attribute__((destructor)) static void end(void) {
  busy = 1;
  const char *path = getenv("ALLOCATIONS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  for (int i = 0; i < atomic_load(&known); i++)
    if (modules[i].count)
      fprintf(file, "%lu %lu %s\n", modules[i].count, modules[i].bytes, modules[i].path);
  fprintf(file, "%lu 0 (elsewhere)\n", elsewhere);
  for (int i = 0; stacks && i < MOST_STACKS; i++) {
    if (!stacks[i].count) continue;
    fprintf(file, "stack %lu", stacks[i].count);
    for (int j = 0; j < stacks[i].depth; j++) {
      const struct module *m = module_of((uintptr_t)stacks[i].frames[j]);
      fprintf(file, " %s+%lx", m ? m->path : "?", (uintptr_t)stacks[i].frames[j] - (m ? m->base : 0));
    }
    fputc('\n', file);
  }
  fclose(file);
}

void *malloc(size_t size) {
  note(size, __builtin_return_address(0));
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note(number * size, __builtin_return_address(0));
  return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
  note(size, __builtin_return_address(0));
  return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size) {
  note(size, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(size, __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  note(size, __builtin_return_address(0));
  void *pointer = __libc_memalign(alignment, size);
  if (pointer == NULL) return ENOMEM;
  *result = pointer;
  return 0;
}
