/* Collectives with a count for each rank (v and w forms): random counts with zeros among them, gaps between
 * blocks, every root, in place. */
#include "../../seed_of_ranks.h"
#include "buffers.h"
#include "large_forms.h"

static int rank, size;
static unsigned state, first_seed;

/* The same numbers on all ranks. */
static int random_below(int bound) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 10) % (unsigned)bound);
}

static int random_count(void) {
  const int choice = random_below(4);
  return choice == 0 ? 0 : choice == 1 ? 1 : random_below(choice == 2 ? 20 : 700);
}

/* counts[from * size + to], and where the blocks begin: with a gap of an element between them, last rank's
 * block first. */
static int* make_counts(void) {
  int* counts = malloc((size_t)size * size * sizeof(int));
  for (int i = 0; i < size * size; ++i) counts[i] = random_count();
  return counts;
}

static int place(const int* counts, int* displacements) {
  int end = 1;
  for (int r = size - 1; r >= 0; --r) {
    displacements[r] = end;
    end += counts[r] + 1;
  }
  return end;
}

static void test_gatherv(int kind, int root, int in_place, const int* counts) {
  int* displacements = malloc(size * sizeof(int));
  const int all = place(counts, displacements);
  const int count = counts[rank];
  int *mine = buffer_new(kind, count), *buffer = buffer_new(kind, all), *expected = buffer_new(kind, all);
  buffer_put(kind, mine, 0, count, rank, 0);
  for (int r = 0; r < size && rank == root; ++r)
    buffer_put(kind, expected, displacements[r], counts[r], r, 0);
  if (rank == root && in_place) buffer_put(kind, buffer, displacements[rank], count, rank, 0);
  CHECK_OK(form_gatherv(rank == root && in_place ? MPI_IN_PLACE : mine, count, buffers_type[kind], buffer,
                        counts, displacements, buffers_type[kind], root, MPI_COMM_WORLD));
  buffer_compare(kind, all, buffer, expected, "gatherv");

  buffer = buffer_new(kind, all);
  for (int r = 0; r < size && rank == root; ++r)
    buffer_put(kind, buffer, displacements[r], counts[r], root, r);
  int* received = buffer_new(kind, count);
  expected = buffer_new(kind, count);
  if (!(rank == root && in_place)) buffer_put(kind, expected, 0, count, root, rank);
  CHECK_OK(form_scatterv(buffer, counts, displacements, buffers_type[kind],
                         rank == root && in_place ? MPI_IN_PLACE : received, count, buffers_type[kind], root,
                         MPI_COMM_WORLD));
  buffer_compare(kind, count, received, expected, "scatterv");
  free(mine);
  free(buffer);
  free(displacements);
}

static void test_allgatherv(int kind, int in_place, const int* counts) {
  int* displacements = malloc(size * sizeof(int));
  const int all = place(counts, displacements);
  int *mine = buffer_new(kind, counts[rank]), *buffer = buffer_new(kind, all),
      *expected = buffer_new(kind, all);
  buffer_put(kind, mine, 0, counts[rank], rank, 0);
  for (int r = 0; r < size; ++r) buffer_put(kind, expected, displacements[r], counts[r], r, 0);
  if (in_place) buffer_put(kind, buffer, displacements[rank], counts[rank], rank, 0);
  CHECK_OK(form_allgatherv(in_place ? MPI_IN_PLACE : mine, counts[rank], buffers_type[kind], buffer, counts,
                           displacements, buffers_type[kind], MPI_COMM_WORLD));
  buffer_compare(kind, all, buffer, expected, "allgatherv");
  free(mine);
  free(displacements);
}

/* With in place both directions have the same counts, so the matrix of counts is made symmetric. */
static void test_alltoallv(int kind, int in_place, int w, const int* matrix) {
  int *out_counts = malloc(size * sizeof(int)), *in_counts = malloc(size * sizeof(int));
  int *out_places = malloc(size * sizeof(int)), *in_places = malloc(size * sizeof(int));
  MPI_Datatype* types = malloc(size * sizeof(MPI_Datatype));
  for (int r = 0; r < size; ++r) {
    const int low = r < rank ? r : rank, high = r < rank ? rank : r;
    out_counts[r] = in_place ? matrix[low * size + high] : matrix[rank * size + r];
    in_counts[r] = in_place ? out_counts[r] : matrix[r * size + rank];
    types[r] = buffers_type[kind];
  }
  const int out_all = place(out_counts, out_places), in_all = place(in_counts, in_places);
  int *out = buffer_new(kind, out_all), *in = buffer_new(kind, in_all), *expected = buffer_new(kind, in_all);
  for (int r = 0; r < size; ++r) {
    if (in_place)
      buffer_put(kind, in, in_places[r], in_counts[r], rank, r);
    else
      buffer_put(kind, out, out_places[r], out_counts[r], rank, r);
    buffer_put(kind, expected, in_places[r], in_counts[r], r, rank);
  }
  void* sendbuf = in_place ? MPI_IN_PLACE : out;
  if (w) {
    for (int r = 0; r < size; ++r) {
      out_places[r] *= buffers_extent[kind] * (int)sizeof(int);
      in_places[r] *= buffers_extent[kind] * (int)sizeof(int);
    }
    CHECK_OK(form_alltoallw(sendbuf, out_counts, out_places, types, in, in_counts, in_places, types,
                            MPI_COMM_WORLD));
  } else {
    CHECK_OK(form_alltoallv(sendbuf, out_counts, out_places, types[0], in, in_counts, in_places, types[0],
                            MPI_COMM_WORLD));
  }
  buffer_compare(kind, in_all, in, expected, w ? "alltoallw" : "alltoallv");
  free(out);
  free(out_counts);
  free(in_counts);
  free(out_places);
  free(in_places);
  free(types);
}

/* The forms with MPI_Count and MPI_Aint arrays. */
static void test_large_forms(void) {
  MPI_Count* counts = malloc(size * sizeof(MPI_Count));
  MPI_Aint* displacements = malloc(size * sizeof(MPI_Aint));
  int all = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = r % 3;
    displacements[r] = all;
    all += r % 3;
  }
  int *mine = buffer_new(kSolid, 3), *buffer = buffer_new(kSolid, all), *expected = buffer_new(kSolid, all);
  buffer_put(kSolid, mine, 0, rank % 3, rank, 0);
  for (int r = 0; r < size; ++r) buffer_put(kSolid, expected, (int)displacements[r], r % 3, r, 0);
  CHECK_OK(
      form_allgatherv_c(mine, rank % 3, MPI_INT, buffer, counts, displacements, MPI_INT, MPI_COMM_WORLD));
  buffer_compare(kSolid, all, buffer, expected, "allgatherv_c");

  for (int r = 0; r < size; ++r) {
    counts[r] = 1;
    displacements[r] = r * (MPI_Aint)sizeof(int);
  }
  MPI_Datatype* types = malloc(size * sizeof(MPI_Datatype));
  int *out = buffer_new(kSolid, size), *in = buffer_new(kSolid, size);
  expected = buffer_new(kSolid, size);
  for (int r = 0; r < size; ++r) {
    types[r] = MPI_INT;
    buffer_put(kSolid, out, r, 1, rank, r);
    buffer_put(kSolid, expected, r, 1, r, rank);
  }
  CHECK_OK(
      form_alltoallw_c(out, counts, displacements, types, in, counts, displacements, types, MPI_COMM_WORLD));
  buffer_compare(kSolid, size, in, expected, "alltoallw_c");
  free(out);
  free(mine);
  free(types);
  free(counts);
  free(displacements);
}

static void test_form(void) {
  for (unsigned drawn = 0; drawn < 4; ++drawn) {
    state = first_seed + drawn;
    int* counts = make_counts();
    for (int kind = 0; kind < kKinds; ++kind)
      for (int in_place = 0; in_place < 2; ++in_place) {
        for (int root = 0; root < size; ++root) test_gatherv(kind, root, in_place, counts);
        test_allgatherv(kind, in_place, counts);
        test_alltoallv(kind, in_place, 0, counts);
        test_alltoallv(kind, in_place, 1, counts);
      }
    free(counts);
  }
  test_large_forms();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  buffers_begin();
  first_seed = (unsigned)seed_of_ranks(1);
  for (form = kBlocking; form < kForms; ++form) test_form();
  buffers_end();
  MPI_Finalize();
  return check_result();
}
