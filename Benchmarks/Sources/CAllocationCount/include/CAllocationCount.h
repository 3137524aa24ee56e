#pragma once

#include <stdint.h>

/// Returns the number of allocations in this process so far: malloc, calloc, realloc and the aligned forms.
uint64_t allocation_count(void);
