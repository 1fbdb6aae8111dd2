/* What the programs of the corpus share: a case is a function; `program CASE` runs it between MPI_Init_thread
 * and MPI_Finalize. What is expected of it stands in the comment before it, which corpus_test.py reads:
 *
 *   CASE name
 *   ranks: 2             how many (default 2)
 *   options: ...         more words for mpiexec
 *   modes: fibers ...    only these (fibers, threads, processes, per2, hosts-fibers, ...; default all)
 *   stdin: text
 *   quit: seconds        mpiexec gets SIGQUIT so many after the case has called begun()
 *   code: 1              the exit code (default: 1 if it says anything, otherwise 0)
 *   unchecked: why       of silent.c: --check has something to say about it; about all others it must not
 *   lines: N             stderr has so many
 *   says: text           stderr has this in a line; @x: file and line of the mark @x; ...: anything
 *
 *   hosts: text          the same, where there are several hosts, instead of all that it says elsewhere
 *
 * What says nothing must be silent. */
#ifndef CORPUS_H
#define CORPUS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLarge = 100000 }; /* bytes: more than is copied to wait for its receive */

static int rank, size;
__attribute__((unused)) static int one = 1, two;

/* All ranks have come here: rank 0 tells corpus_test.py, which asks then. */
__attribute__((unused)) static void begun(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) return;
  puts("begun");
  fflush(stdout);
}

struct Case {
  const char* name;
  void (*run)(void);
};

/* before: what is done before MPI_Init; may be null */
__attribute__((unused)) static int run_case(int argc, char** argv, const struct Case* cases,
                                            void (*before)(const char* name)) {
  const char* name = argc > 1 ? argv[1] : "";
  int provided;
  if (before != NULL) before(name);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (; cases->name != NULL; ++cases) {
    if (strcmp(cases->name, name) != 0) continue;
    cases->run();
    MPI_Finalize();
    return 0;
  }
  fprintf(stderr, "there is no case %s\n", name);
  return 99;
}

#endif
