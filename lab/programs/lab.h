/* What the programs of this folder share: options, timing, and lines of JSON for who started them. They see
 * mpi.h of the library that compiles them, and nothing else. */
#ifndef LAB_H
#define LAB_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of `integer`, `real` and `text` is not NULL, and holds the default until lab_start() reads the command
 * line. */
struct LabOption {
  const char *name, *what;
  long* integer;
  double* real;
  const char** text;
};

static int lab_rank, lab_size, lab_threads_provided;

static inline void lab_help(const char* title, const struct LabOption* options) {
  printf("%s\n\noptions:\n", title);
  for (; options->name != NULL; ++options) {
    if (options->integer != NULL)
      printf("  --%-14s %s (%ld)\n", options->name, options->what, *options->integer);
    if (options->real != NULL) printf("  --%-14s %s (%g)\n", options->name, options->what, *options->real);
    if (options->text != NULL) printf("  --%-14s %s (%s)\n", options->name, options->what, *options->text);
  }
  printf("\nEach measurement is printed as a line of JSON by rank 0.\n");
}

static inline int lab_read_value(const struct LabOption* option, const char* value) {
  char* end = NULL;
  if (option->text != NULL) {
    *option->text = value;
    return 1;
  }
  if (option->integer != NULL) *option->integer = strtol(value, &end, 10);
  if (option->real != NULL) *option->real = strtod(value, &end);
  return end != value && *end == '\0';
}

static inline void lab_read_options(int argc, char** argv, const char* title,
                                    const struct LabOption* options) {
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) {
      lab_help(title, options);
      exit(0);
    }
    const struct LabOption* option = options;
    while (option->name != NULL && (strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i] + 2, option->name) != 0))
      ++option;
    if (option->name == NULL) {
      fprintf(stderr, "%s: there is no option '%s' (--help lists them)\n", argv[0], argv[i]);
      exit(2);
    }
    if (i + 1 == argc || !lab_read_value(option, argv[i + 1])) {
      fprintf(stderr, "%s: %s needs a value%s%s: %s\n", argv[0], argv[i], i + 1 < argc ? ", not " : "",
              i + 1 < argc ? argv[i + 1] : "", option->what);
      exit(2);
    }
  }
}

/* The first call of main(): reads the options, and starts MPI with this level of threads. `options` ends with
 * a row whose name is NULL. */
static inline void lab_start(int* argc, char*** argv, int threads, const char* title,
                             const struct LabOption* options) {
  lab_read_options(*argc, *argv, title, options);
  MPI_Init_thread(argc, argv, threads, &lab_threads_provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &lab_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &lab_size);
}

/* Ends the job with a reason, from any rank. */
static inline void lab_fail(const char* reason) {
  fprintf(stderr, "rank %d: %s\n", lab_rank, reason);
  MPI_Abort(MPI_COMM_WORLD, 3);
  exit(3);
}

/* A buffer whose pages are all there. */
static inline void* lab_buffer(size_t bytes) {
  void* buffer = malloc(bytes == 0 ? 1 : bytes);
  if (buffer == NULL) lab_fail("no memory for a buffer");
  memset(buffer, 1, bytes);
  return buffer;
}

/* Seconds that one call of body(argument) takes: its repetitions are doubled until they take `seconds` on the
 * slowest rank. All ranks of MPI_COMM_WORLD call this; all get the time of the slowest one. */
static inline double lab_time(double seconds, void (*body)(void*), void* argument) {
  body(argument);
  for (long times = 1;; times *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < times; ++i) body(argument);
    double took = MPI_Wtime() - begin, longest = 0;
    MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (longest >= seconds || times >= 1L << 26) return longest / (double)times;
    while (longest > 0 && longest * 4 < seconds && times < 1L << 24) { /* most of what remains, at once */
      times *= 2;
      longest *= 2;
    }
  }
}

/* The nodes of the job. `per_node` ranks that follow each other are one, or, if it is 0, those that share
 * memory. */
struct LabNodes {
  int nodes, node;     /* how many, and which is mine */
  int per_node, place; /* how many ranks each has, and which of them I am */
  MPI_Comm here;       /* the ranks of my node */
  MPI_Comm across;     /* the ranks that have my place on their nodes, in the order of nodes */
};

static inline struct LabNodes lab_nodes(long per_node) {
  struct LabNodes found;
  if (per_node == 0)
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, lab_rank, MPI_INFO_NULL, &found.here);
  else
    MPI_Comm_split(MPI_COMM_WORLD, lab_rank / (int)per_node, lab_rank, &found.here);
  MPI_Comm_rank(found.here, &found.place);
  MPI_Comm_size(found.here, &found.per_node);
  int least, most;
  MPI_Allreduce(&found.per_node, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&found.per_node, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (least != most) lab_fail("each node must have as many ranks as any other: change -n or --per-node");
  MPI_Comm_split(MPI_COMM_WORLD, found.place, lab_rank, &found.across);
  MPI_Comm_rank(found.across, &found.node);
  MPI_Comm_size(found.across, &found.nodes);
  return found;
}

#endif
