// fflush(NULL) of one rank while others read and write their own files. Right: it writes what the caller
// holds, and leaves the files of other ranks alone: their offset, their text, and the functions below their
// streams. It waits for no stream of another rank, and no rank waits for it to open a file.
#include "check.h"

#include <stdio_ext.h>
#include <sys/ioctl.h>

static char name[96], in_name[96], pipe_name[96];
static int writes;

static ssize_t count_write(void* cookie, const char* text, size_t size) {
  (void)cookie, (void)text;
  ++writes;
  return (ssize_t)size;
}

static long size_of(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

static void make_input(void) {
  FILE* const file = fopen(in_name, "w");
  for (int i = 0; i < 500; ++i) fprintf(file, "%d\n", i);
  fclose(file);
}

// What rank 1 has open while rank 0 flushes.
static void check_others(int (*flush)(void)) {
  FILE *input = NULL, *output = NULL, *memory = NULL, *own = NULL;
  char *text = NULL, line[16] = "";
  size_t size = 0;
  long offset = 0;
  if (rank != 0) {
    make_input();
    input = fopen(in_name, "r");
    output = fopen(name, "w");
    memory = open_memstream(&text, &size);
    own = fopencookie(NULL, "w", (cookie_io_functions_t){.write = count_write});
    setvbuf(output, NULL, _IOLBF, 4096);
    setvbuf(own, NULL, _IOLBF, 4096);
    if (fgets(line, sizeof line, input) == NULL) line[0] = '\0';
    offset = (long)lseek(fileno(input), 0, SEEK_CUR);
    fprintf(output, "of rank %d", rank);
    fprintf(memory, "of rank %d", rank);
    fprintf(own, "of rank %d", rank);
    writes = 0;
    size = 0;
  } else {
    output = fopen(name, "w");
    setvbuf(output, NULL, _IOLBF, 4096);
    fprintf(output, "of rank 0");
  }
  step();
  if (rank == 0) check(flush() == 0, "flush: %s", strerror(errno));
  step();
  if (rank == 0) {
    check(size_of(name) == 9, "the file of the rank that flushes has %ld bytes", size_of(name));
    fclose(output);
    return;
  }
  check((long)lseek(fileno(input), 0, SEEK_CUR) == offset, "another rank has moved the offset of input");
  check(fgets(line, sizeof line, input) != NULL && strcmp(line, "1\n") == 0, "the second line is %s", line);
  check(size_of(name) == 0, "another rank has written %ld bytes", size_of(name));
  check(writes == 0, "another rank has called the function below a stream");
  check(size == 0, "another rank has flushed a stream over memory");
  check(flush() == 0, "flush: %s", strerror(errno));
  check(size_of(name) > 0 && writes == 1, "own streams are not flushed: %ld bytes, %d calls", size_of(name),
        writes);
  check(fgets(line, sizeof line, input) != NULL && strcmp(line, "2\n") == 0, "the third line is %s", line);
  fclose(input), fclose(output), fclose(memory), fclose(own);
  free(text);
}

static int flush_all(void) { return fflush(NULL); }
static int flush_lines(void) {
  _flushlbf();
  return 0;
}

// Waits until the pipe is full: its writer is in write(), or about to be.
static void await_full(int descriptor) {
  for (int bytes = 0; bytes < 65536; usleep(1000)) ioctl(descriptor, FIONREAD, &bytes);
  usleep(20000);
}

static long read_all(FILE* file) {
  long bytes = 0;
  while (getc(file) != EOF) ++bytes;
  fclose(file);
  return bytes;
}

enum { kBytes = 100000 };

// Rank 1 is blocked in a write to a pipe that rank 0 reads. `holds`: all of the text is in its buffer, and it
// is in fflush(NULL).
static void check_blocked(int holds) {
  if (rank == 0) mkfifo(pipe_name, 0600);
  step();
  if (rank == 1) {
    static char buffer[2 * kBytes];
    FILE* const file = fopen(pipe_name, "w");
    if (holds) setvbuf(file, buffer, _IOFBF, sizeof buffer);
    for (int i = 0; i < kBytes; ++i) putc('x', file);
    if (holds) check(fflush(NULL) == 0, "fflush: %s", strerror(errno));
    fclose(file);
  } else if (rank == 0) {
    FILE* const file = fopen(pipe_name, "r");
    await_full(fileno(file));
    alarm(60);
    if (!holds) check(fflush(NULL) == 0, "fflush: %s", strerror(errno));
    FILE* const other = fopen("/dev/null", "r");
    fclose(other);
    const long bytes = read_all(file);
    check(bytes == kBytes, "%ld bytes come through the pipe", bytes);
    alarm(0);
    unlink(pipe_name);
  }
  step();
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  snprintf(name, sizeof name, "%s/file", folder);
  snprintf(in_name, sizeof in_name, "%s/input", folder);
  snprintf(pipe_name, sizeof pipe_name, "%s/pipe", folder);
  MPI_Bcast(pipe_name, sizeof pipe_name, MPI_CHAR, 0, MPI_COMM_WORLD);
  check_others(flush_all);
  step();
  check_others(flush_lines);
  step();
  check_blocked(0);
  check_blocked(1);
  return end();
}
