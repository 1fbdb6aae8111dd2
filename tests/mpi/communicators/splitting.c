/* MPI_Comm_split and MPI_Comm_split_type: who gets together, in which order (MPI-5.0 section 7.4.2). */
#include "check.h"
#include "hosts.h"

static int size, rank;
static int here[64], ranks_here; /* the world ranks of this host */

/* The world ranks of the members, by an allgather in the communicator itself. */
static int members_of(MPI_Comm comm, int* members) {
  int n = -1;
  CHECK_OK(MPI_Comm_size(comm, &n));
  CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm));
  return n;
}

static void by_remainder(int colors) {
  MPI_Comm comm;
  int members[64], me = -1;
  /* Backwards by key. */
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % colors, -rank, &comm));
  const int n = members_of(comm, members);
  CHECK_EQ(n, (size - rank % colors + colors - 1) / colors);
  CHECK_OK(MPI_Comm_rank(comm, &me));
  CHECK_EQ(members[me], rank);
  for (int i = 0; i < n; ++i) CHECK_EQ(members[i], rank % colors + (n - 1 - i) * colors);

  /* A split of the split, into single ranks. */
  MPI_Comm single;
  CHECK_OK(MPI_Comm_split(comm, me, 0, &single));
  CHECK_EQ(members_of(single, members), 1);
  CHECK_OK(MPI_Comm_free(&single));
  CHECK_OK(MPI_Comm_free(&comm));
}

static void equal_keys_keep_the_order(void) {
  MPI_Comm comm;
  int members[64];
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 2147483647, 42, &comm));
  CHECK_EQ(members_of(comm, members), size);
  for (int i = 0; i < size; ++i) CHECK_EQ(members[i], i);
  CHECK_OK(MPI_Comm_free(&comm));
}

static void undefined_stays_out(void) {
  MPI_Comm comm;
  int members[64];
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 3, 0, &comm));
  CHECK_EQ(comm == MPI_COMM_NULL, rank == 0);
  if (comm != MPI_COMM_NULL) {
    CHECK_EQ(members_of(comm, members), size - 1);
    for (int i = 0; i < size - 1; ++i) CHECK_EQ(members[i], i + 1);
    CHECK_OK(MPI_Comm_free(&comm));
  }
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm));
  CHECK(comm == MPI_COMM_NULL);
}

/* The communicators of one split work at the same time, and do not hear each other. */
static void colours_do_not_mix(void) {
  MPI_Comm comm;
  int total = 0, n = -1, expected = 0;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm));
  CHECK_OK(MPI_Comm_size(comm, &n));
  for (int round = 0; round < 20; ++round) {
    const int mine = rank + round;
    CHECK_OK(MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, comm));
    expected = n * round;
    for (int i = rank % 2; i < size; i += 2) expected += i;
    CHECK_EQ(total, expected);
  }
  CHECK_OK(MPI_Comm_free(&comm));
}

static void by_type(void) {
  MPI_Comm comm;
  int members[64];
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &comm));
  CHECK_EQ(members_of(comm, members), ranks_here);
  for (int i = 0; i < ranks_here; ++i) CHECK_EQ(members[i], here[ranks_here - 1 - i]);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                               MPI_INFO_NULL, &comm));
  if (rank % 2) {
    CHECK(comm == MPI_COMM_NULL);
  } else {
    int even = 0;
    for (int i = 0; i < ranks_here; ++i) even += here[i] % 2 == 0;
    CHECK_EQ(members_of(comm, members), even);
    CHECK_OK(MPI_Comm_free(&comm));
  }

  /* What is no resource that the library knows leads to nobody. */
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", "no such thing"));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &comm));
  CHECK(comm != MPI_COMM_NULL);
  if (comm != MPI_COMM_NULL) {
    CHECK_EQ(members_of(comm, members), ranks_here);
    CHECK_OK(MPI_Comm_free(&comm));
  }
  CHECK_OK(MPI_Info_free(&info));
}

static MPI_Comm split_by(MPI_Comm comm, int type, const char* key, const char* value) {
  MPI_Info info;
  MPI_Comm part = MPI_COMM_NULL;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, key, value));
  CHECK_OK(MPI_Comm_split_type(comm, type, 0, info, &part));
  CHECK_OK(MPI_Info_free(&info));
  return part;
}

/* Into the parts of a machine as far as it has parts, and back by their names. */
static void by_hardware(void) {
  MPI_Comm whole =
      split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Machine");
  int n = -1, part_size = 0, levels = 0;
  for (MPI_Comm part; whole != MPI_COMM_NULL; whole = part) {
    CHECK_OK(MPI_Comm_size(whole, &n));
    CHECK(levels++ > 0 || n == ranks_here);
    MPI_Info told;
    CHECK_OK(MPI_Info_create(&told));
    CHECK_OK(MPI_Comm_split_type(whole, MPI_COMM_TYPE_HW_UNGUIDED, 0, told, &part));
    int parted = part != MPI_COMM_NULL, someone = -1;
    CHECK_OK(MPI_Allreduce(&parted, &someone, 1, MPI_INT, MPI_MAX, whole));
    if (someone) {
      char type[MPI_MAX_INFO_VAL] = "";
      if (parted) {
        MPI_Info info;
        int length = sizeof type, flag = 0;
        CHECK_OK(MPI_Comm_size(part, &part_size));
        CHECK(part_size < n);
        CHECK_OK(MPI_Comm_get_info(part, &info));
        CHECK_OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &length, type, &flag));
        CHECK_EQ(flag, 1);
        CHECK_OK(MPI_Info_free(&info));
        char same[MPI_MAX_INFO_VAL] = "";
        length = sizeof same;
        CHECK_OK(MPI_Info_get_string(told, "mpi_hw_resource_type", &length, same, &flag));
        CHECK_STR(same, type);
      }
      MPI_Comm named = split_by(whole, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", type);
      CHECK_EQ(named != MPI_COMM_NULL, parted);
      if (parted && named != MPI_COMM_NULL) {
        int result = -1;
        CHECK_OK(MPI_Comm_compare(named, part, &result));
        CHECK_EQ(result, MPI_CONGRUENT);
        CHECK_OK(MPI_Comm_free(&named));
      }
    }
    CHECK_OK(MPI_Info_free(&told));
    CHECK_OK(MPI_Comm_free(&whole));
  }
  CHECK(levels > 0);
  MPI_Comm part;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
  CHECK(part == MPI_COMM_NULL);
}

static void expect_size(MPI_Comm comm, int expected) {
  int n = -1;
  CHECK(comm != MPI_COMM_NULL);
  if (comm == MPI_COMM_NULL) return;
  CHECK_OK(MPI_Comm_size(comm, &n));
  CHECK_EQ(n, expected);
  CHECK_OK(MPI_Comm_free(&comm));
}

static void by_process_set(void) {
  const int type = MPI_COMM_TYPE_RESOURCE_GUIDED;
  expect_size(split_by(MPI_COMM_WORLD, type, "mpi_pset_name", "mpi://WORLD"), size);
  expect_size(split_by(MPI_COMM_WORLD, type, "mpi_pset_name", "mpi://SELF"), 1);
  expect_size(split_by(MPI_COMM_WORLD, type, "mpi_pset_name", "mpi://self"), 1);
  CHECK(split_by(MPI_COMM_WORLD, type, "mpi_pset_name", "mpi://NOWHERE") == MPI_COMM_NULL);
  CHECK(split_by(MPI_COMM_WORLD, type, "no such key", "mpi://WORLD") == MPI_COMM_NULL);
  /* Who names another set is elsewhere. */
  expect_size(split_by(MPI_COMM_WORLD, type, "mpi_pset_name", rank % 2 ? "mpi://SELF" : "mpi://WORLD"),
              rank % 2 ? 1 : (size + 1) / 2);
  /* One thing or the other. */
  MPI_Info both;
  MPI_Comm comm;
  CHECK_OK(MPI_Info_create(&both));
  CHECK_OK(MPI_Info_set(both, "mpi_pset_name", "mpi://WORLD"));
  CHECK_OK(MPI_Info_set(both, "mpi_hw_resource_type", "mpi_shared_memory"));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, both, &comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_OK(MPI_Info_free(&both));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, MPI_INFO_NULL, &comm));
  CHECK(comm == MPI_COMM_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ranks_here = ranks_on_my_host(here);
  for (int colors = 1; colors <= size; ++colors) by_remainder(colors);
  equal_keys_keep_the_order();
  undefined_stays_out();
  colours_do_not_mix();
  by_type();
  by_hardware();
  by_process_set();
  MPI_Finalize();
  return check_result();
}
