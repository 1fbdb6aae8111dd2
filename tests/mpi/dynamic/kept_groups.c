/* A group of ranks that have ended is a group of these ranks still, though others are started. */
#include "check.h"

static MPI_Group group_of_child(const char* program) {
  MPI_Comm child;
  MPI_Group group = MPI_GROUP_NULL;
  CHECK_OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                          MPI_ERRCODES_IGNORE));
  CHECK_OK(MPI_Comm_remote_group(child, &group));
  CHECK_OK(MPI_Comm_disconnect(&child));
  return group;
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    CHECK_OK(MPI_Comm_disconnect(&parent));
    MPI_Finalize();
    return check_result();
  }
  const int zero = 0;
  int result = -1, rank = -1, size = -1;
  MPI_Group own, both, part;
  const MPI_Group first = group_of_child(argv[0]);
  MPI_Comm_group(MPI_COMM_SELF, &own);
  CHECK_OK(MPI_Group_union(own, first, &both));
  MPI_Group only = first;
  CHECK_OK(MPI_Group_free(&only));
  const int one = 1;
  CHECK_OK(MPI_Group_incl(both, 1, &one, &part)); /* the child again */
  MPI_Group second = group_of_child(argv[0]);     /* the first one has ended long before */
  CHECK_OK(MPI_Group_compare(part, second, &result));
  CHECK_EQ(result, MPI_UNEQUAL);
  CHECK_OK(MPI_Group_translate_ranks(second, 1, &zero, both, &rank));
  CHECK_EQ(rank, MPI_UNDEFINED);
  MPI_Group all;
  CHECK_OK(MPI_Group_union(both, second, &all));
  CHECK_OK(MPI_Group_size(all, &size));
  CHECK_EQ(size, 3);
  MPI_Group* const made[] = {&own, &both, &part, &second, &all};
  for (int i = 0; i < 5; ++i) CHECK_OK(MPI_Group_free(made[i]));
  MPI_Finalize();
  return check_result();
}
