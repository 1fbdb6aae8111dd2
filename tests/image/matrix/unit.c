#include "probe.h"

static int global = 7;
static int* const volatile through_pointer = &global;
static _Thread_local int per_thread = 7;
static _Thread_local int* pointer_per_thread = &global;

int probe_global(int add) {
  *through_pointer += add;
  return global == *pointer_per_thread ? global : -1;
}

int probe_function_static(int add) {
  static int number = 7;
  number += add;
  return number;
}

int probe_thread_local(int add) {
  per_thread += add;
  return per_thread;
}

int probe_imported(int add) {
  imported += add;
  return imported == imported_in_its_library() ? imported : -1;
}
