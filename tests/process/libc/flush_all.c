// fflush(NULL) and fopen() while another rank waits in fgets() for a line of a pipe. Right: they return, with
// what the caller has written in its file, and the other rank gets its line.
#include "check.h"

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  char pipe_name[96], name[96], text[32] = "", line[32] = "";
  snprintf(pipe_name, sizeof pipe_name, "%s/pipe", folder);
  if (rank == 0) mkfifo(pipe_name, 0600);
  MPI_Bcast(pipe_name, sizeof pipe_name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    FILE* const input = fopen(pipe_name, "r+");
    step();
    if (fgets(line, sizeof line, input) == NULL) line[0] = '\0';
    check_text("line", line, "go\n");
    fclose(input);
  } else {
    step();
    usleep(300000);
    alarm(20);
    snprintf(name, sizeof name, "%s/file", folder);
    FILE* const output = fopen(name, "w");
    fprintf(output, "of rank %d", rank);
    check(fflush(NULL) == 0, "fflush: %s", strerror(errno));
    FILE* const again = fopen(name, "r");
    if (fgets(text, sizeof text, again) == NULL) text[0] = '\0';
    snprintf(line, sizeof line, "of rank %d", rank);
    check_text("what was flushed", text, line);
    fclose(again);
    fclose(output);
    alarm(0);
    if (rank == 1) {
      const int descriptor = open(pipe_name, O_WRONLY);
      check(write(descriptor, "go\n", 3) == 3, "write: %s", strerror(errno));
      close(descriptor);
    }
  }
  step();
  return end();
}
