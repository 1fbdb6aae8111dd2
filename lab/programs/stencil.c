/* One Jacobi iteration on a square of n * n points, in the styles of Rabenseifner (000, section 2; 002,
 * section 6), with the same bits as result in all of them: pure        every rank alone, without threads
 *   masteronly  threads compute; between parallel regions the master thread calls MPI
 *   funneled    in one parallel region the master thread communicates while the others compute what needs no
 * halo; it computes nothing (fixed), or as much as balances the load (adaptive) multiple    every thread
 * exchanges the halo of its own rows and columns (B1) multiple-b2 `communicating` threads exchange all halos,
 * the others compute The ranks form a grid of two dimensions (MPI_Dims_create), within each of which threads
 * divide the rows: the two levels of Smith and Bull's Figure 1 (001). With --overlap 1 pure and masteronly
 * compute the inner points while their messages are on their way. */
#include "stencil.h"

#ifdef _OPENMP
#include <omp.h>
#else
static int omp_get_thread_num(void) { return 0; }
static int omp_get_max_threads(void) { return 1; }
#endif

static const char* style = "pure";
static long n = 512, least_steps = 20, overlap = 0, communicating = 1;
static double seconds = 0.1;
static const struct LabOption kOptions[] = {
    {"style", "pure, masteronly, funneled-fixed, funneled-adaptive, multiple or multiple-b2", NULL, NULL,
     &style},
    {"n", "points in each direction", &n, NULL, NULL},
    {"steps", "iterations, at least; their result is printed after exactly so many", &least_steps, NULL,
     NULL},
    {"overlap", "1: pure and masteronly compute inner points before they wait", &overlap, NULL, NULL},
    {"communicating", "threads that communicate in multiple-b2", &communicating, NULL, NULL},
    {"seconds", "how long to measure", NULL, &seconds, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static int threads = 1;
static double in_exchange; /* seconds of the thread that communicates, or of the first one */

/* Rows first .. last of thread `mine` of `of`, among rows 1 .. height. */
static void divide(int first, int last, int mine, int of, int* begin, int* end) {
  const int rows = last - first;
  *begin = first + (int)((long)rows * mine / of);
  *end = first + (int)((long)rows * (mine + 1) / of);
}

static void step_simple(struct Field* field) {
  const double begin = MPI_Wtime();
  MPI_Request requests[8];
  const int number = begin_exchange(field, requests);
  if (!overlap) finish_exchange(field, requests, number);
  in_exchange += MPI_Wtime() - begin;
  const int margin = overlap ? 1 : 0;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int row = 1 + margin; row <= field->height - margin; ++row)
    sweep_row(field, row, 1 + margin, field->width - margin);
  if (!overlap) return;
  const double again = MPI_Wtime();
  finish_exchange(field, requests, number);
  in_exchange += MPI_Wtime() - again;
  sweep_edges(field);
}

/* The part of the inner rows that a communicating thread computes; found by what the last steps took. */
static double own_part;

static void adapt(double communication, double computation) {
  /* Others compute for as long as this thread communicates and computes. */
  const double idle = computation - communication;
  own_part += 0.25 * idle / (computation > 0 ? computation * threads : 1);
  if (own_part < 0) own_part = 0;
  if (own_part > 1.0 / threads) own_part = 1.0 / threads;
}

static void step_overlapped(struct Field* field, int communicate, int adaptive) {
  double longest = 0;
  double own_time = 0;
#pragma omp parallel num_threads(threads) reduction(max : longest)
  {
    const int me = omp_get_thread_num(), first = 2, last = field->height;
    const int reserved = threads > communicate ? communicate : threads;
    const int own = adaptive ? (int)(own_part * (last - first)) : 0;
    const double begin = MPI_Wtime();
    int from = first, to = first;
    if (me < reserved) {
      exchange_sides(field, me, reserved);
      if (me == 0) in_exchange += MPI_Wtime() - begin;
      if (threads == reserved)
        divide(first, last, me, threads, &from, &to);
      else if (me == 0)
        to = first + own;
    } else {
      divide(first + own, last, me - reserved, threads - reserved, &from, &to);
    }
    for (int row = from; row < to; ++row) sweep_row(field, row, 2, field->width - 1);
    if (me < reserved) {
      if (me == 0) own_time = MPI_Wtime() - begin;
    } else {
      longest = MPI_Wtime() - begin;
    }
#pragma omp barrier
#pragma omp for schedule(static)
    for (int row = 1; row <= field->height; ++row) {
      if (row == 1 || row == field->height) {
        sweep_row(field, row, 1, field->width);
      } else {
        sweep_row(field, row, 1, 1);
        if (field->width > 1) sweep_row(field, row, field->width, field->width);
      }
    }
  }
  if (adaptive && threads > communicate) adapt(own_time, longest);
}

/* Each thread has its rows, and exchanges the parts of the sides that they need. */
static void step_multiple(struct Field* field) {
#pragma omp parallel num_threads(threads)
  {
    int from, to;
    const int me = omp_get_thread_num();
    divide(1, field->height + 1, me, threads, &from, &to);
    const double begin = MPI_Wtime();
    exchange_rows(field, me, from, to);
    if (me == 0) in_exchange += MPI_Wtime() - begin;
    for (int row = from; row < to; ++row) sweep_row(field, row, 1, field->width);
  }
}

static void step(struct Field* field) {
  if (strcmp(style, "pure") == 0 || strcmp(style, "masteronly") == 0)
    step_simple(field);
  else if (strcmp(style, "funneled-fixed") == 0)
    step_overlapped(field, 1, 0);
  else if (strcmp(style, "funneled-adaptive") == 0)
    step_overlapped(field, 1, 1);
  else if (strcmp(style, "multiple-b2") == 0)
    step_overlapped(field, (int)communicating, 0);
  else
    step_multiple(field);
  swap(field);
}

static int needed_level(void) {
  if (strncmp(style, "multiple", 8) == 0) return MPI_THREAD_MULTIPLE;
  return strcmp(style, "pure") == 0 ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED;
}

static void check_options(void) {
  static const char* const kStyles[] = {"pure",     "masteronly", "funneled-fixed", "funneled-adaptive",
                                        "multiple", "multiple-b2"};
  int known = 0;
  for (int i = 0; i < 6; ++i) known += strcmp(style, kStyles[i]) == 0;
  if (!known)
    lab_fail("--style is pure, masteronly, funneled-fixed, funneled-adaptive, multiple or multiple-b2");
  if (n < 8 || n > 32768 || least_steps < 1 || communicating < 1)
    lab_fail("--n is 8 to 32768; --steps and --communicating are at least 1");
  if (strcmp(style, "pure") != 0) threads = omp_get_max_threads();
  if (communicating > threads)
    lab_fail("--communicating is more than the threads of a rank (OMP_NUM_THREADS)");
}

int main(int argc, char** argv) {
  lab_read_options(argc, argv,
                   "stencil: a Jacobi iteration in the styles pure, masteronly, funneled and multiple",
                   kOptions);
  lab_start(&argc, &argv, needed_level(), "", kOptions);
  check_options();
  if (lab_threads_provided < needed_level())
    lab_fail("the library does not give the level of threads that this style needs");
  struct Field field = new_field((int)n, threads);
  for (long i = 0; i < least_steps; ++i) step(&field);
  const unsigned long bits = bits_of(&field);
  long steps = 0;
  double took = 0, exchanged = 0;
  in_exchange = 0;
  for (long times = least_steps; took < seconds; times *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    in_exchange = 0;
    const double begin = MPI_Wtime();
    for (long i = 0; i < times; ++i) step(&field);
    double mine = MPI_Wtime() - begin;
    MPI_Allreduce(&mine, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    steps = times;
  }
  MPI_Reduce(&in_exchange, &exchanged, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (lab_rank == 0)
    printf(
        "{\"measure\": \"stencil\", \"style\": \"%s\", \"overlap\": %ld, \"n\": %ld, \"ranks\": %d, "
        "\"threads\": %d, \"seconds\": %.6g, \"communication\": %.6g, "
        "\"bits\": \"%016lx\"}\n",
        style, overlap, n, lab_size, threads, took / (double)steps, exchanged / lab_size / (double)steps,
        bits);
  free_field(&field);
  MPI_Finalize();
  return 0;
}
