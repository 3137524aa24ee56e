// A library for LD_PRELOAD: the wall clock of the process is ahead by the nanoseconds in the file STEP_FILE, which may
// change at any time. Waits by the wall clock notice it, as when the clock is set.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;
// The length of a slice of a wait, after which the clock is looked at again.
static const int64_t slice = 20000000;

static int (*next_clock_gettime)(clockid_t, struct timespec *);
static int (*next_sem_timedwait)(sem_t *, const struct timespec *);
static int (*next_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static const volatile int64_t *step;

static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * second + time->tv_nsec; }

static struct timespec timespec_of(int64_t time) {
  struct timespec result = {time / second, time % second};
  return result;
}

__attribute__((constructor)) static void prepare(void) {
  if (next_clock_gettime != NULL) return;
  next_sem_timedwait = dlsym(RTLD_NEXT, "sem_timedwait");
  next_cond_timedwait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  int file = open(STEP_FILE, O_RDONLY | O_CLOEXEC);
  void *memory = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (memory != MAP_FAILED) step = memory;
  next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
}

// The system's time, without the step.
static int64_t system_time(void) {
  struct timespec time;
  next_clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(&time);
}

static int64_t ahead(void) { return step == NULL ? 0 : *step; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  prepare();
  int result = next_clock_gettime(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    *time = timespec_of(nanoseconds(time) + ahead());
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place != NULL) *place = now.tv_sec;
  return now.tv_sec;
}

// Returns the end of the next slice of a wait until `deadline`, and whether it is the last.
static struct timespec slice_end(const struct timespec *deadline, int *is_last) {
  int64_t now = system_time(), end = nanoseconds(deadline) - ahead();
  *is_last = end <= now + slice;
  return timespec_of(*is_last ? end : now + slice);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
  prepare();
  while (1) {
    int is_last;
    struct timespec end = slice_end(deadline, &is_last);
    int result = next_sem_timedwait(semaphore, &end);
    if (result == 0 || errno != ETIMEDOUT || is_last) return result;
  }
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
    const struct timespec *restrict deadline) {
  prepare();
  // A deadline of the monotonic clock, which begins at the start of the system.
  if (deadline->tv_sec < system_time() / second / 2) {
    return next_cond_timedwait(condition, mutex, deadline);
  }
  int is_last;
  struct timespec end = slice_end(deadline, &is_last);
  int result = next_cond_timedwait(condition, mutex, &end);
  // A condition may wake without a reason.
  return result == ETIMEDOUT && !is_last ? 0 : result;
}
