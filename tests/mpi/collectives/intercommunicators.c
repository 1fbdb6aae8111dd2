/* Collectives between two groups (MPI-5.0 section 6.2.2): the even and the odd ranks, or the first rank and
 * all others. */
#include "buffers.h"
#include "forms.h"

static int rank, size; /* in MPI_COMM_WORLD */
static MPI_Comm inter;
static int mine, locals, remotes; /* rank in the own group, sizes of the groups */
static int remote_of[64];         /* rank of the remote group -> rank in MPI_COMM_WORLD */

static void test_rooted(int kind, int count, int root, int in_first_group, int group) {
  /* `root` is of group 0 or 1, as in_first_group says; the other group takes the other part. */
  const int root_group = in_first_group ? 0 : 1;
  const int is_root = group == root_group && mine == root;
  const int role = group != root_group ? root : is_root ? MPI_ROOT : MPI_PROC_NULL;
  const int all = remotes * count;

  int *buffer = buffer_new(kind, count), *expected = buffer_new(kind, count);
  if (is_root) buffer_put(kind, buffer, 0, count, rank, 0);
  if (is_root) buffer_put(kind, expected, 0, count, rank, 0);
  if (group != root_group) buffer_put(kind, expected, 0, count, remote_of[root], 0);
  CHECK_OK(form_bcast(buffer, count, buffers_type[kind], role, inter));
  buffer_compare(kind, count, buffer, expected, "bcast");

  int* own = buffer_new(kind, count);
  buffer_put(kind, own, 0, count, rank, 0);
  buffer = buffer_new(kind, all);
  expected = buffer_new(kind, all);
  for (int r = 0; r < remotes && is_root; ++r) buffer_put(kind, expected, r * count, count, remote_of[r], 0);
  CHECK_OK(form_gather(own, count, buffers_type[kind], buffer, count, buffers_type[kind], role, inter));
  buffer_compare(kind, all, buffer, expected, "gather");
  free(own);

  own = buffer_new(kind, count);
  buffer = buffer_new(kind, all);
  expected = buffer_new(kind, count);
  for (int r = 0; r < remotes && is_root; ++r) buffer_put(kind, buffer, r * count, count, rank, remote_of[r]);
  if (group != root_group) buffer_put(kind, expected, 0, count, remote_of[root], rank);
  CHECK_OK(form_scatter(buffer, count, buffers_type[kind], own, count, buffers_type[kind], role, inter));
  buffer_compare(kind, count, own, expected, "scatter");
  free(buffer);

  int in[3] = {rank, 1, -rank}, out[3] = {-7, -7, -7}, sum = 0;
  for (int r = 0; r < remotes; ++r) sum += remote_of[r];
  CHECK_OK(form_reduce(in, out, 3, MPI_INT, MPI_SUM, role, inter));
  CHECK_EQ(out[0], is_root ? sum : -7);
  CHECK_EQ(out[1], is_root ? remotes : -7);
  CHECK_EQ(out[2], is_root ? -sum : -7);
}

static void test_all(int kind, int count) {
  const int all = remotes * count;
  int *own = buffer_new(kind, count), *buffer = buffer_new(kind, all), *expected = buffer_new(kind, all);
  buffer_put(kind, own, 0, count, rank, 0);
  for (int r = 0; r < remotes; ++r) buffer_put(kind, expected, r * count, count, remote_of[r], 0);
  CHECK_OK(form_allgather(own, count, buffers_type[kind], buffer, count, buffers_type[kind], inter));
  buffer_compare(kind, all, buffer, expected, "allgather");
  free(own);

  int* out = buffer_new(kind, all);
  buffer = buffer_new(kind, all);
  expected = buffer_new(kind, all);
  for (int r = 0; r < remotes; ++r) {
    buffer_put(kind, out, r * count, count, rank, remote_of[r]);
    buffer_put(kind, expected, r * count, count, remote_of[r], rank);
  }
  CHECK_OK(form_alltoall(out, count, buffers_type[kind], buffer, count, buffers_type[kind], inter));
  buffer_compare(kind, all, buffer, expected, "alltoall");
  free(out);
}

/* Text "a;" of every rank in order: concatenation of digits, modulo a prime, does not commute. */
enum { kPrime = 100003 };
typedef struct {
  int value, shift;
} digits;

static void append(void* in, void* inout, int* length, MPI_Datatype* type) {
  digits *left = in, *right = inout;
  (void)type;
  for (int i = 0; i < *length; ++i) {
    right[i].value = (int)(((long long)left[i].value * right[i].shift + right[i].value) % kPrime);
    right[i].shift = (int)((long long)left[i].shift * right[i].shift % kPrime);
  }
}

static void test_reductions(void) {
  digits in = {rank + 1, 100}, out = {0, 0}, expected = {0, 1};
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(append, 0, &op);
  for (int r = 0; r < remotes; ++r) {
    expected.value = (expected.value * 100 + remote_of[r] + 1) % kPrime;
    expected.shift = (int)(expected.shift * 100LL % kPrime);
  }
  CHECK_OK(form_allreduce(&in, &out, 1, type, op, inter));
  CHECK_EQ(out.value, expected.value);
  CHECK_EQ(out.shift, expected.shift);
  MPI_Op_free(&op);
  MPI_Type_free(&type);

  /* Both groups' counts have the same sum. */
  const int each = remotes, total = locals * remotes;
  int *terms = malloc(total * sizeof(int)), *sums = malloc(each * sizeof(int)),
      *counts = malloc(locals * sizeof(int));
  int ranks = 0;
  for (int r = 0; r < remotes; ++r) ranks += remote_of[r];
  for (int form = 0; form < 2; ++form) {
    for (int i = 0; i < total; ++i) terms[i] = rank + i;
    for (int r = 0; r < locals; ++r) counts[r] = each;
    if (form == 0)
      CHECK_OK(form_reduce_scatter_block(terms, sums, each, MPI_INT, MPI_SUM, inter));
    else
      CHECK_OK(form_reduce_scatter(terms, sums, counts, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < each; ++i) CHECK_EQ(sums[i], ranks + remotes * (mine * each + i));
  }
  free(terms);
  free(sums);
  free(counts);
}

static void test_variable(void) {
  /* Rank a sends 1 + (a + b) % 3 ints to rank b of the other group. */
  int out_counts[64], in_counts[64], out_places[64], in_places[64], out_all = 0, in_all = 0;
  for (int r = 0; r < remotes; ++r) {
    out_counts[r] = in_counts[r] = (rank + remote_of[r]) % 3;
    out_places[r] = out_all;
    in_places[r] = in_all;
    out_all += out_counts[r];
    in_all += in_counts[r];
  }
  int *out = buffer_new(kSolid, out_all), *in = buffer_new(kSolid, in_all),
      *expected = buffer_new(kSolid, in_all);
  for (int r = 0; r < remotes; ++r) {
    buffer_put(kSolid, out, out_places[r], out_counts[r], rank, remote_of[r]);
    buffer_put(kSolid, expected, in_places[r], in_counts[r], remote_of[r], rank);
  }
  CHECK_OK(form_alltoallv(out, out_counts, out_places, MPI_INT, in, in_counts, in_places, MPI_INT, inter));
  buffer_compare(kSolid, in_all, in, expected, "alltoallv");
  free(out);

  in_all = 0;
  for (int r = 0; r < remotes; ++r) {
    in_counts[r] = remote_of[r] % 3;
    in_places[r] = in_all;
    in_all += in_counts[r];
  }
  out = buffer_new(kSolid, 3);
  in = buffer_new(kSolid, in_all);
  expected = buffer_new(kSolid, in_all);
  buffer_put(kSolid, out, 0, rank % 3, rank, 0);
  for (int r = 0; r < remotes; ++r) buffer_put(kSolid, expected, in_places[r], in_counts[r], remote_of[r], 0);
  CHECK_OK(form_allgatherv(out, rank % 3, MPI_INT, in, in_counts, in_places, MPI_INT, inter));
  buffer_compare(kSolid, in_all, in, expected, "allgatherv");
  free(out);
}

/* Splits the world by `group`, joins the parts by their first ranks, and tests. */
static void test_groups(int group, int other_leader) {
  MPI_Comm local;
  MPI_Comm_split(MPI_COMM_WORLD, group, rank, &local);
  CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, other_leader, 5, &inter));
  MPI_Comm_rank(inter, &mine);
  MPI_Comm_size(inter, &locals);
  MPI_Comm_remote_size(inter, &remotes);
  CHECK_OK(form_allgather(&rank, 1, MPI_INT, remote_of, 1, MPI_INT, inter));
  for (int repeat = 0; repeat < 3; ++repeat) CHECK_OK(form_barrier(inter));
  for (int kind = 0; kind < kKinds; ++kind)
    for (int count = 0; count <= 5000; count = count == 0 ? 1 : count * 71) {
      for (int first = 0; first < 2; ++first) {
        const int roots = (group == 0) == first ? locals : remotes;
        for (int root = 0; root < roots; ++root) test_rooted(kind, count, root, first, group);
      }
      test_all(kind, count);
    }
  test_reductions();
  test_variable();
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
}

static void test_form(void) {
  if (size > 1) {
    test_groups(rank % 2, 1 - rank % 2);
    test_groups(rank == 0 ? 0 : 1, rank == 0 ? 1 : 0);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  buffers_begin();
  for (form = kBlocking; form < kForms; ++form) test_form();
  buffers_end();
  MPI_Finalize();
  return check_result();
}
