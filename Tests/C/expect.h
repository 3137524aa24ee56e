/* What the C tests share: a failed expectation is printed, and counted for main's result. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upright.h>

static int failures;
static upright_error error = {.size = sizeof error};

#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
      failures++;                                                       \
    }                                                                   \
  } while (0)

/* Expects a status, and with a failure its message. */
#define EXPECT_STATUS(wanted, call)                                                              \
  do {                                                                                           \
    memset(&error, 0, sizeof error);                                                             \
    error.size = sizeof error;                                                                   \
    upright_status status_ = (call);                                                             \
    int told_ = (wanted) <= UPRIGHT_END || (error.status == (wanted) && error.message[0]);       \
    if (status_ != (wanted) || !told_) {                                                         \
      fprintf(stderr, "%s:%d: %s is %d: %s: %s\n", __FILE__, __LINE__, #call, status_,           \
        error.message, error.location);                                                          \
      failures++;                                                                                \
    }                                                                                            \
  } while (0)
