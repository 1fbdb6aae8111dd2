/* Programs that do what the standard does not have, and all libraries take: told once for each place, and nothing
 * fails. What is expected has a line for itself,
 * however long. */
// clang-format off
#include "corpus.h"

static void expect(int condition) {
  if (condition) return;
  fprintf(stderr, "rank %d: another result is right\n", rank);
  exit(98);
}

/* CASE characters
 * ranks: 3
 * options: --check
 * code: 0
 * lines: 3
 * says: check: this is taken here, but the standard does not have it, so not every library may:
 * says:   ranks 0-2: MPI_Allreduce at ...@a combines MPI_CHAR with MPI_MAX, which the standard does not define (MPI-5.0 section 6.9.2)
 * says:   ranks 0-2: MPI_Iallreduce at ...@b combines MPI_AINT with MPI_LAND, which */
static void characters(void) {
  char mine = (char)(3 + rank), most = 0;
  MPI_Aint all = 0, own = rank;
  MPI_Request request;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&mine, &most, 1, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD); /* @a */
  expect(most == 2 + size);
  MPI_Iallreduce(&own, &all, 1, MPI_AINT, MPI_LAND, MPI_COMM_WORLD, &request); /* @b */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(all == 0);
}

/* CASE not-an-error
 * options: --check=error
 * code: 0
 * lines: 2
 * says:   rank 1: MPI_Reduce_local at ...@a combines MPI_COUNT with MPI_LXOR, which */
static void not_an_error(void) {
  MPI_Count a = 4, b = 0;
  if (rank == 1) MPI_Reduce_local(&a, &b, 1, MPI_COUNT, MPI_LXOR); /* @a */
  expect(b == rank);
}

/* CASE freed-collective
 * options: --check
 * code: 0
 * lines: 2
 * says:   ranks 0,1: MPI_Request_free at ...@a frees the request of a collective operation */
static void freed_collective(void) {
  int sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  for (int done = 0; !done;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  MPI_Request_free(&request); /* @a */
  expect(sum == size && request == MPI_REQUEST_NULL);
}

/* CASE freed-collective-unchecked */
static void freed_collective_unchecked(void) {
  int sums[2] = {0};
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i)
    MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < 2; ++i) {
    for (int done = 0; !done;) MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[i]);
  }
  expect(sums[0] == size && sums[1] == size);
}

static int free_key(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)value;
  (void)extra;
  return MPI_Comm_free_keyval(&key);
}

/* CASE key-freed-early
 * options: --check
 * code: 0
 * lines: 2
 * says:   ranks 0,1: MPI_Comm_free_keyval at ...@a frees a key that its delete function has freed */
static void key_freed_early(void) {
  int key;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_key, &key, NULL);
  MPI_Comm_set_attr(copy, key, NULL);
  MPI_Comm_free(&copy);
  expect(key != MPI_KEYVAL_INVALID);
  MPI_Comm_free_keyval(&key); /* @a */
  expect(key == MPI_KEYVAL_INVALID);
}

/* CASE scattered-twice
 * options: --check
 * code: 0
 * lines: 2
 * says:   rank 0: MPI_Scatterv at ...@a sends a byte to several ranks */
static void scattered_twice(void) {
  const int data[3] = {1, 2, 3}, counts[2] = {2, 2}, displs[2] = {0, 1};
  int in[2];
  MPI_Scatterv(data, counts, displs, MPI_INT, in, 2, MPI_INT, 0, MPI_COMM_WORLD); /* @a */
  expect(in[0] == 1 + rank && in[1] == 2 + rank);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"characters", characters},
      {"not-an-error", not_an_error},
      {"freed-collective", freed_collective},
      {"freed-collective-unchecked", freed_collective_unchecked},
      {"key-freed-early", key_freed_early},
      {"scattered-twice", scattered_twice},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
