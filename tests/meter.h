/* Counters of Clump that tests read where a limit of seconds would depend on the machine: performance
   variables of the tool information interface (MPI-5.0 section 15.3.7). Plain C11 and C++; MPI is
   initialised. */
#ifndef CLUMP_TESTS_METER_H
#define CLUMP_TESTS_METER_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
} Meter;

/* A counter of the calling rank, which counts from now on. */
static inline Meter meter_start(const char* name) {
  Meter meter;
  int provided, index = -1, count = 0;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS ||
      MPI_T_pvar_session_create(&meter.session) != MPI_SUCCESS ||
      MPI_T_pvar_handle_alloc(meter.session, index, NULL, &meter.handle, &count) != MPI_SUCCESS ||
      MPI_T_pvar_start(meter.session, meter.handle) != MPI_SUCCESS) {
    fprintf(stderr, "no counter %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
  }
  return meter;
}

/* What it has counted at all ranks together, since the calls of meter_start(). All ranks call this. */
static inline long long meter_of_all(const Meter* meter) {
  unsigned long long mine = 0, all = 0;
  MPI_T_pvar_read(meter->session, meter->handle, &mine);
  MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return (long long)all;
}

static inline void meter_end(Meter* meter) {
  MPI_T_pvar_session_free(&meter->session);
  MPI_T_finalize();
}

#endif
