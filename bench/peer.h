/* What the measured programs share, so that they measure the same things in the same way.
 * Linux only: the numbers are for one machine, side by side. */
#ifndef PTERON_BENCH_PEER_H
#define PTERON_BENCH_PEER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PEER_FURTHER \
  7 /* how many more requests or methods the memory of one more is averaged over */

/* Seconds on the clock that bench/compare reads too before it starts a program. */
static inline double peer_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A field of /proc/self/status in MB: "VmHWM:" is the peak, "VmRSS:" what is resident now.
 * getrusage's peak would include the parent's memory at the time of the fork. */
static inline double peer_memory_mb(const char* field) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  double mb = 0;
  if (!file) return 0;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, field, strlen(field)) == 0) mb = strtod(line + strlen(field), NULL) / 1024;
  }
  fclose(file);
  return mb;
}

static inline int peer_less(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Sorts the times of single calls, in seconds, and prints the result line. */
static inline void peer_print(double loaded, double first, double* calls, size_t count,
                              double peak_mb, double further_mb) {
  qsort(calls, count, sizeof *calls, peer_less);
  printf(
      "{\"loaded_at_s\": %.6f, \"first_at_s\": %.6f, \"call_p50_us\": %.3f, \"call_min_us\": %.3f, "
      "\"peak_mb\": %.2f, \"further_mb\": %.3f}\n",
      loaded, first, calls[count / 2] * 1e6, calls[0] * 1e6, peak_mb, further_mb);
}

/* Deterministic input bytes: floats in [-1, 1). */
static inline void peer_fill(float* data, size_t count) {
  uint32_t state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525U + 1013904223U;
    data[i] = (float)(state >> 8) / 8388608.0F - 1.0F;
  }
}

/* Memory for an input: such floats, or int64 zeros. */
static inline void* peer_input(size_t count, int is_int64) {
  const size_t bytes = count * (is_int64 ? sizeof(int64_t) : sizeof(float));
  void* data = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!data) exit(1);
  memset(data, 0, bytes);
  if (!is_int64) peer_fill(data, count);
  return data;
}

#endif
