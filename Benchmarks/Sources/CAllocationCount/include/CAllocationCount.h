#pragma once

#include <stdint.h>

/// How often this process has asked for memory so far: malloc, calloc, realloc and the aligned forms.
uint64_t allocation_count(void);
