/* In the place of libnuma, whose static library can't be part of a shared one. x265 asks first whether the machine has
 * nodes of memory that a program can choose from, and doesn't use what follows if it has none. */
#include <stddef.h>

int numa_available(void) { return -1; }
int numa_max_node(void) { return 0; }
void *numa_allocate_cpumask(void) { return NULL; }
void *numa_allocate_nodemask(void) { return NULL; }
void numa_bitmask_free(void *mask) { (void)mask; }
unsigned int numa_bitmask_weight(const void *mask) { (void)mask; return 0; }
int numa_node_to_cpus(int node, void *mask) { (void)node; (void)mask; return -1; }
int numa_run_on_node_mask(void *mask) { (void)mask; return -1; }
void numa_set_interleave_mask(void *mask) { (void)mask; }
void numa_set_localalloc(void) {}
