// glibc's tuning functions, which Swift's Glibc module doesn't contain.
#include <malloc.h>
