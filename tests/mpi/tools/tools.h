/* What these tests have in common: shorter words, and looking things up by name. */
#ifndef CLUMP_TESTS_TOOLS_H
#define CLUMP_TESTS_TOOLS_H

#include "check.h"

/* Functions of this interface return a class as it is, and call no error handler. */
#define T_OK(call) CHECK_EQ(call, MPI_SUCCESS)

static inline void start_tool(void) {
  int provided = -1;
  T_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}

static inline int control(const char* name) {
  int index = -1;
  const int code = MPI_T_cvar_get_index(name, &index);
  if (code != MPI_SUCCESS) CHECK_FAILED("no control variable %s: %d", name, code);
  return index;
}

static inline int meter(const char* name, int class) {
  int index = -1;
  const int code = MPI_T_pvar_get_index(name, class, &index);
  if (code != MPI_SUCCESS) CHECK_FAILED("no performance variable %s: %d", name, code);
  return index;
}

static inline int event(const char* name) {
  int index = -1;
  const int code = MPI_T_event_get_index(name, &index);
  if (code != MPI_SUCCESS) CHECK_FAILED("no event %s: %d", name, code);
  return index;
}

/* A handle of a performance variable of one value. */
static inline MPI_T_pvar_handle open_meter(MPI_T_pvar_session session, const char* name, int class,
                                           void* object) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int count = -1;
  T_OK(MPI_T_pvar_handle_alloc(session, meter(name, class), object, &handle, &count));
  CHECK_EQ(count, 1);
  return handle;
}

static inline unsigned long long read_meter(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  unsigned long long value = ~0ull;
  T_OK(MPI_T_pvar_read(session, handle, &value));
  return value;
}

#endif
