/* What a rank has loaded for adapters of PSM when it has started, and how many bytes its process has read. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void show(const char* file, const char* what) {
  char line[4096];
  FILE* lines = fopen(file, "r");
  while (lines != NULL && fgets(line, sizeof line, lines) != NULL)
    if (strstr(line, what) != NULL) printf("%s", strchr(line, '/') != NULL ? strchr(line, '/') : line);
  fclose(lines);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  show("/proc/self/io", "rchar: ");
  show("/proc/self/maps", "/libpsm");
  show("/proc/self/maps", "/libinfinipath");
  MPI_Finalize();
  return 0;
}
