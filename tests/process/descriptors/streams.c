// Streams in the place of the standard ones: fdopen(1) and of a duplicate of it, `stdout = fopen(...)`,
// error(), warn(). Lines are whole and have tags, as those of printf(); a rank's own streams are its own.
#define _GNU_SOURCE
#include <err.h>
#include <error.h>
#include <fcntl.h>
#include <wchar.h>

#include "../files/check.h"

static char name[64];

static void to_file(void) {
  FILE* const before = stdout;
  FILE* const file = fopen(name, "w");
  if (check_rank % 2 == 1) stdout = file;
  if (check_rank % 2 == 1) {
    printf("printf %d\n", check_rank);
    puts("puts");
    putchar('c');
    putchar('\n');
  }
  MPI_Barrier(MPI_COMM_WORLD);
  stdout = before;
  fclose(file);
  char expected[64] = "";
  if (check_rank % 2 == 1) snprintf(expected, sizeof expected, "printf %d\nputs\nc\n", check_rank);
  check_contents(name, expected);
}

static void errors_to_file(void) {
  FILE* const before = stderr;
  FILE* const file = fopen(name, "w");
  program_invocation_name = program_invocation_short_name = "me";
  stderr = file;
  for (int i = 0; i < check_rank; ++i) error(0, ENOENT, "error %d", i);
  MPI_Barrier(MPI_COMM_WORLD);
  const unsigned errors = error_message_count;
  error_at_line(0, 0, "file", 7, "at line");
  errno = EACCES;
  warn("warn");
  warnx("warnx");
  errno = EPERM;
  perror("perror");
  stderr = before;
  fclose(file);
  check(errors == (unsigned)check_rank, "%u errors have been counted", errors);
  char expected[512] = "";
  for (int i = 0; i < check_rank; ++i)
    sprintf(expected + strlen(expected), "me: error %d: No such file or directory\n", i);
  strcat(expected,
         "me:file:7: at line\nme: warn: Permission denied\nme: warnx\nperror: Operation not permitted\n");
  check_contents(name, expected);
}

// All lines go to the job's standard output, with tags.
static void above_descriptors(void) {
  FILE* const first = fdopen(1, "w");
  FILE* const second = fdopen(dup(1), "w");
  check(first != NULL && second != NULL, "fdopen: %s", strerror(errno));
  check(fileno(first) == 1, "fileno %d", fileno(first));
  errno = 0;
  check(fdopen(0, "q") == NULL && errno == EINVAL, "fdopen of a mode that there is not: %s", strerror(errno));
  for (int i = 0; i < 20; ++i) {
    fprintf(first, "(rank %d ", check_rank);
    fflush(first);
    fprintf(first, "whole)\n");
    fprintf(second, "(rank %d whole)\n", check_rank);
  }
  fflush(first);
  fclose(second);
  // It follows descriptor 1.
  const int saved = dup(1);
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(file, 1);
  close(file);
  fprintf(first, "to the file\n");
  fflush(first);
  dup2(saved, 1);
  close(saved);
  check_contents(name, "to the file\n");
  fprintf(first, "(rank %d whole)\n", check_rank);  // written when the rank ends
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  snprintf(name, sizeof name, "streams.%d.%d", check_job, check_rank);
  to_file();
  errors_to_file();
  above_descriptors();
  unlink(name);
  return check_end();
}
