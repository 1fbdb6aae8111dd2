/* Every rank writes many lines, in pieces and through each way there is. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  MPI_Init(NULL, NULL);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int line = 0; line < 200; ++line) {
    printf("<%d", rank);
    for (int i = 0; i < 20; ++i) printf(" %d", rank);
    puts(">");
    char text[100];
    snprintf(text, sizeof text, "<%d by write>\n", rank);
    if (write(STDOUT_FILENO, text, strlen(text)) < 0) return 1;
  }
  MPI_Finalize();
  return 0;
}
