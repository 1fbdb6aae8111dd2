// Stands for run-time systems that choose the stacks of their threads: OpenMP's and Java's set a size,
// Boehm's collector and Go's cgo ask where a stack lies, servers give the smallest size that there is or
// memory of their own, and end threads by pthread_exit() and pthread_cancel(). Right: a thread has at least
// the stack that was asked for, where it was asked for, with the guard that was asked for.
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, wrong;

static void expect(int right, const char* what) {
  if (right) return;
  printf("rank %d: %s\n", rank, what);
  wrong = 1;
}

struct Seen {
  uintptr_t lowest;
  size_t bytes, guard;
  uintptr_t place;  // of a variable
};

static void* look(void* argument) {
  struct Seen* const seen = argument;
  pthread_attr_t attributes;
  void* lowest = NULL;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &seen->bytes);
  pthread_attr_getguardsize(&attributes, &seen->guard);
  pthread_attr_destroy(&attributes);
  seen->lowest = (uintptr_t)lowest;
  seen->place = (uintptr_t)&attributes;
  return NULL;
}

static struct Seen seen_with(const pthread_attr_t* attributes) {
  struct Seen seen;
  memset(&seen, 0, sizeof seen);
  pthread_t thread;
  if (pthread_create(&thread, attributes, look, &seen) == 0) pthread_join(thread, NULL);
  expect(seen.place > seen.lowest && seen.place < seen.lowest + seen.bytes,
         "a thread runs on another stack than it is told");
  return seen;
}

/// Uses nearly all that was asked for; the C library takes some for thread-local variables.
static void* use_most(void* bytes) {
  volatile char array[(size_t)bytes - 12000];
  const long size = (long)sizeof array;
  for (long i = size - 1; i >= 0; i -= 500) array[i] = 1;
  return (void*)(intptr_t)array[size - 1];
}

static void uses_most(pthread_attr_t* attributes, size_t bytes) {
  pthread_t thread;
  void* result = NULL;
  pthread_attr_setstacksize(attributes, bytes);
  expect(pthread_create(&thread, attributes, use_most, (void*)bytes) == 0,
         "no thread with a stack of this size");
  pthread_join(thread, &result);
  expect(result == (void*)1, "a thread cannot use the stack that it has asked for");
}

static void handle(int number) {
  volatile char array[4000];
  array[0] = (char)number;
  array[3999] = array[0];
}

/// A handler that wants a stack of its own, while the thread ends.
static void* raise_and_exit(void* argument) {
  pthread_kill(pthread_self(), SIGUSR2);
  pthread_exit(argument);
}

static void* wait_for_ever(void* argument) {
  for (;;) pause();
  return argument;
}

int main(int argc, char** argv) {
  int granted = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_attr_t attributes;
  pthread_t thread;
  void* result = NULL;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);

  pthread_attr_init(&attributes);
  size_t usual = 0;
  pthread_attr_getstacksize(&attributes, &usual);
  expect(seen_with(NULL).bytes >= usual, "a thread without attributes has a smaller stack than usual");
  expect(seen_with(&attributes).bytes >= usual,
         "a thread with new attributes has a smaller stack than usual");
  uses_most(&attributes, 1 << 20);
  uses_most(&attributes, 40 << 20);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  expect(seen_with(&attributes).bytes >= (size_t)PTHREAD_STACK_MIN,
         "a thread has less than the smallest stack");
  pthread_attr_setguardsize(&attributes, 0);
  expect(seen_with(&attributes).guard == 0, "a guard although none is wanted");
  pthread_attr_setguardsize(&attributes, 10 * page);
  expect(seen_with(&attributes).guard == 10 * page, "another guard than the program has set");
  size_t left = 0;
  pthread_attr_getstacksize(&attributes, &left);
  expect(left == (size_t)PTHREAD_STACK_MIN, "making a thread has changed its attributes");

  cpu_set_t cores;
  CPU_ZERO(&cores);
  pthread_getaffinity_np(pthread_self(), sizeof cores, &cores);
  pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
  seen_with(&attributes);
  seen_with(&attributes);
  pthread_attr_destroy(&attributes);

  const size_t own = 256 << 10;
  char* const memory = aligned_alloc(page, own);
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, own);
  const struct Seen there = seen_with(&attributes);
  expect(there.lowest == (uintptr_t)memory && there.bytes == own,
         "the thread is not where the program has put it");
  pthread_attr_destroy(&attributes);
  free(memory);

  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigaction(SIGUSR2, &action, NULL);
  for (int i = 0; i < 100; ++i) {  // more than have large guards
    pthread_create(&thread, NULL, raise_and_exit, &action);
    pthread_join(thread, &result);
    expect(result == (void*)&action, "pthread_exit() in a thread");
  }
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  expect(result == PTHREAD_CANCELED, "a thread was not cancelled");

  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
