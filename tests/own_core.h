/* For threads of a rank that shall run at the same time: a rank has a share of the cores, and where there are
   as many ranks as cores its threads have one. Plain C11, Linux; include it before other headers. */
#ifndef CLUMP_TESTS_OWN_CORE_H
#define CLUMP_TESTS_OWN_CORE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>

/* Moves the calling thread to the core of this number, or to the highest one below it that it may use. */
static inline void take_core(int number) {
  for (; number >= 0; --number) {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(number, &core);
    if (sched_setaffinity(0, sizeof core, &core) == 0) return;
  }
}

#endif
