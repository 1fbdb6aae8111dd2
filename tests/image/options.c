/* options FLAGS...: getopt() and its variables per rank, with ranks at different places at the same time. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "rank.h"

int main(int argc, char** argv) {
  static const struct option known[] = {{"size", required_argument, NULL, 's'},
                                        {"level", optional_argument, NULL, 'l'},
                                        {"all", no_argument, NULL, 'a'},
                                        {0, 0, 0, 0}};
  int letter;
  begin_rank();
  while ((letter = getopt_long(argc, argv, "vo:", known, NULL)) != -1) {
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%c %s\n", letter, optarg != NULL ? optarg : "-");
  }
  for (int i = optind; i < argc; ++i) printf("operand %s\n", argv[i]);
  optind = 1;
  printf("again %c\n", getopt(argc, argv, "+vo:"));
  MPI_Finalize();
  return 0;
}
