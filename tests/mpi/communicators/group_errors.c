/* Wrong arguments of the group functions: the error class of each (MPI-5.0 section 7.3). */
#include "check.h"

int main(int argc, char** argv) {
  int size, value;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Group world, made = MPI_GROUP_NULL, null = MPI_GROUP_NULL;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));

  CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &value), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_rank(MPI_GROUP_NULL, &value), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_compare(world, MPI_GROUP_NULL, &value), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_union(MPI_GROUP_NULL, world, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_intersection(world, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_difference(MPI_GROUP_NULL, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_free(&null), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_group(MPI_COMM_NULL, &made), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_remote_group(MPI_COMM_WORLD, &made), MPI_ERR_COMM);

  const int twice[] = {0, 0}, negative[] = {-1}, too_large[] = {size}, undefined[] = {MPI_UNDEFINED};
  CHECK_CLASS(MPI_Group_incl(world, 2, twice, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_incl(world, 1, negative, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_incl(world, 1, too_large, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_excl(world, 1, too_large, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_excl(world, 1, undefined, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_incl(world, -1, NULL, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_incl(MPI_GROUP_NULL, 0, NULL, &made), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_translate_ranks(world, 1, too_large, world, &value), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_translate_ranks(world, -1, too_large, world, &value), MPI_ERR_ARG);

  int no_stride[1][3] = {{0, 0, 0}}, outside[1][3] = {{0, size, 1}}, long_way[1][3] = {{0, 2147483647, 1}};
  int below[1][3] = {{0, -1, -1}}, same[2][3] = {{0, 0, 1}, {0, 0, 1}};
  CHECK_CLASS(MPI_Group_range_incl(world, 1, no_stride, &made), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_range_incl(world, 1, outside, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_range_incl(world, 1, long_way, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_range_excl(world, 1, below, &made), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_range_incl(world, 2, same, &made), MPI_ERR_RANK);
  CHECK(made == MPI_GROUP_NULL);

  /* A freed handle is recognised, also when another group has taken its place. */
  MPI_Group freed, later;
  CHECK_OK(MPI_Group_incl(world, 1, (int[]){0}, &freed));
  MPI_Group stale = freed;
  CHECK_OK(MPI_Group_free(&freed));
  CHECK_CLASS(MPI_Group_size(stale, &value), MPI_ERR_GROUP);
  CHECK_OK(MPI_Group_incl(world, 1, (int[]){0}, &later));
  CHECK_CLASS(MPI_Group_free(&stale), MPI_ERR_GROUP);
  CHECK_OK(MPI_Group_free(&later));
  CHECK_OK(MPI_Group_free(&world));
  MPI_Finalize();
  return check_result();
}
