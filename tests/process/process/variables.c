// Variables that tell a rank its number before MPI_Init, by the names of other launchers. Run with nothing,
// or with "child": then a child of each rank that calls MPI is a job of its own, although it inherits them.
//
// Stands for programs and scripts that choose a device, a file or a seed by OMPI_COMM_WORLD_LOCAL_RANK,
// MPI_LOCALRANKID, PMI_RANK, and the like.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRank, kSize, kLocalRank, kLocalSize, kKinds };
static const struct {
  const char* name;
  int kind;
} variables[] = {
    {"PMI_RANK", kRank},
    {"PMI_SIZE", kSize},
    {"PMIX_RANK", kRank},
    {"MPI_LOCALRANKID", kLocalRank},
    {"MPI_LOCALNRANKS", kLocalSize},
    {"OMPI_COMM_WORLD_RANK", kRank},
    {"OMPI_COMM_WORLD_SIZE", kSize},
    {"OMPI_COMM_WORLD_LOCAL_RANK", kLocalRank},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", kLocalSize},
    {"OMPI_COMM_WORLD_NODE_RANK", kLocalRank},
    {"MV2_COMM_WORLD_RANK", kRank},
    {"MV2_COMM_WORLD_SIZE", kSize},
    {"MV2_COMM_WORLD_LOCAL_RANK", kLocalRank},
    {"MV2_COMM_WORLD_LOCAL_SIZE", kLocalSize},
};
enum { kVariables = sizeof variables / sizeof *variables };

int main(int argc, char** argv) {
  int told[kVariables], bad = 0, sum;
  for (int i = 0; i < kVariables; ++i)
    told[i] = getenv(variables[i].name) ? atoi(getenv(variables[i].name)) : -1;
  const char* const mode = argc > 1 ? argv[1] : "";
  int numbers[kKinds];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &numbers[kRank]);
  MPI_Comm_size(MPI_COMM_WORLD, &numbers[kSize]);
  if (!strcmp(mode, "alone")) {
    MPI_Finalize();
    return numbers[kSize] == 1 ? 0 : 1;
  }
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &numbers[kLocalRank]);
  MPI_Comm_size(node, &numbers[kLocalSize]);
  MPI_Comm_free(&node);
  for (int i = 0; i < kVariables; ++i) {
    if (told[i] == numbers[variables[i].kind]) continue;
    printf("rank %d: %s is %d, want %d\n", numbers[kRank], variables[i].name, told[i],
           numbers[variables[i].kind]);
    bad = 1;
  }
  if (!strcmp(mode, "child")) {
    char command[5000];
    snprintf(command, sizeof command, "'%s' alone", argv[0]);
    const int status = system(command);
    if (status != 0) printf("rank %d: its child ended with %x\n", numbers[kRank], status), bad = 1;
  }
  MPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (numbers[kRank] == 0) printf("variables: %s\n", sum ? "WRONG" : "ok");
  MPI_Finalize();
  return bad;
}
