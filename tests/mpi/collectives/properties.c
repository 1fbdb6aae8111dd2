/* Property tests: random calls of every collective, in every form, on random communicators, whose results
   each rank can tell without asking another, with loops.

     properties CASES [SEED [FIRST [1]]]

   draws CASES cases of the sequence that SEED stands for, from number FIRST on; with a 1 behind it says what
   it draws. All ranks draw the same numbers. What was drawn depends on the seed, the number of ranks and that
   of the case alone, and a failure says how to repeat it. */
#include <unistd.h>

#include "draws.h"

#include "../../seed_of_ranks.h"

enum { kMostInFlight = 3, kCasesOfASplit = 20 };

static int world_rank, world_size;
static uint64_t seed;
static int case_number, round_number, verbose;
static const char* program;

static void describe(const test* t, char* text, size_t room) {
  const int of_types = t->what != kBarrier;
  snprintf(text, room,
           "%s (%s) of %d ranks, root %d%s: %s%d of %s%s%s%s; repeat it with: mpiexec -n %d %s 1 %llu %d",
           collective_names[t->what], form_names[t->form], t->g->size, t->root,
           t->in_place ? ", in place" : "", t->uneven ? "up to " : "", t->units,
           t->mixed ? "6 ints, like " : "", of_types ? t->kind->name : "nothing",
           is_reduction(t->what) ? ", " : "", is_reduction(t->what) ? operations[t->operation].name : "",
           world_size, program, (unsigned long long)seed, case_number);
}

static void complain(const test* t, const char* what) {
  char text[500];
  describe(t, text, sizeof text);
  CHECK_FAILED("case %d, round %d, rank %d of the communicator: %s. %s", case_number, round_number,
               t->g->rank, what, text);
}

/* Nobody can go on after an error that is not known to be everyone's. */
static void must(const test* t, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  complain(t, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- movement ---- */

static const kind* own_kind(const test* t, dice* own) {
  return t->mixed ? int_kinds[below(own, kIntKinds)] : t->kind;
}

static void make_blocks(test* t, side* s, int outgoing, dice* own) {
  const int blocks = count_blocks(t, outgoing);
  const enum placing placing = t->what == kAlltoallw              ? kInBytes
                               : is_vector(t->what) && blocks > 1 ? kInElements
                                                                  : kOneAfterTheOther;
  const kind* same = own_kind(t, own);
  if (blocks == 0) return;
  side_make(s, blocks);
  for (int b = 0; b < blocks; ++b) {
    int from, to;
    ends(t, outgoing, b, &from, &to);
    s->kinds[b] = placing == kInBytes ? own_kind(t, own) : same;
    s->counts[b] = block_units(t, from, to) * (t->mixed ? kUnitInts / s->kinds[b]->parts : 1);
  }
  side_place(s, placing, own);
}

static void put_block(const test* t, const side* s, unsigned char* memory, int outgoing, int block) {
  int from, to;
  ends(t, outgoing, block, &from, &to);
  side_put_stream(s, memory, block,
                  mix_of(t->key + (uint64_t)round_number, (uint64_t)from * 4099 + (uint64_t)to));
}

static void fill_blocks(test* t) {
  const int me = t->g->rank, receives = t->what == kBcast && me != t->root;
  for (int b = 0; b < t->in.blocks && !receives; ++b) put_block(t, &t->in, t->in.image.actual, 1, b);
  if (t->out.blocks != 0 && in_place_here(t)) {
    for (int b = 0; b < t->out.blocks; ++b)
      if (is_alltoall(t->what) || b == me)
        put_block(t, &t->out, t->out.image.actual, is_alltoall(t->what), b);
  }
  side_expect_same(&t->in);
  side_expect_same(&t->out);
  if (receives) put_block(t, &t->in, t->in.image.expected, 1, 0);
  for (int b = 0; b < t->out.blocks; ++b) put_block(t, &t->out, t->out.image.expected, 0, b);
}

/* ---- reductions ---- */

/* Elements that lie before a rank's share of the result. */
static int elements_before(const test* t, int rank) {
  int elements = 0;
  for (int r = 0; r < rank && t->what == kReduceScatter; ++r) elements += block_units(t, r, 0);
  return t->what == kReduceScatterBlock ? rank * t->units : elements;
}

static int count_operands(const test* t) {
  return t->what == kReduceScatter || t->what == kReduceScatterBlock ? elements_before(t, t->g->size)
                                                                     : t->units;
}

static int count_results(const test* t) {
  return t->what == kReduceScatter ? block_units(t, t->g->rank, 0) : t->units;
}

static void make_operands(test* t, side* s, int outgoing, dice* own) {
  if (count_blocks(t, outgoing) == 0) return;
  side_make(s, 1);
  s->kinds[0] = t->kind;
  s->counts[0] = outgoing || in_place_here(t) ? count_operands(t) : count_results(t);
  side_place(s, kOneAfterTheOther, own);
}

static value reduced(const test* t, uint64_t key, int ranks, int i) {
  const int size = t->g->size;
  value v = operand(t->operation, t->kind, key, 0, size, i);
  for (int r = 1; r < ranks; ++r)
    v = combine(t->operation, v, operand(t->operation, t->kind, key, r, size, i));
  return v;
}

static void fill_operands(test* t) {
  const uint64_t key = mix(t->key + (uint64_t)round_number);
  const int me = t->g->rank, size = t->g->size, operands = count_operands(t);
  side* const from = in_place_here(t) ? &t->out : &t->in;
  for (int i = 0; i < operands; ++i)
    put_value(t->kind, element(from, from->image.actual, 0, i),
              operand(t->operation, t->kind, key, me, size, i));
  side_expect_same(&t->in);
  side_expect_same(&t->out);
  /* An exclusive scan leaves rank 0's buffer as it is. */
  const int ranks = t->what == kScan ? me + 1 : t->what == kExscan ? me : size;
  if (t->out.blocks == 0 || ranks == 0) return;
  const int first = elements_before(t, me), results = count_results(t);
  for (int i = 0; i < results; ++i)
    put_value(t->kind, element(&t->out, t->out.image.expected, 0, i), reduced(t, key, ranks, first + i));
}

/* What the standard leaves open: bytes of a result that mean nothing, and, of operands that are replaced by a
   smaller result, the rest. */
static void accept_what_may_be(test* t) {
  if (t->out.blocks == 0) return;
  const int results = count_results(t);
  side_accept(&t->out, 0, results, 0);
  if (in_place_here(t)) side_accept(&t->out, results, count_operands(t) - results, 1);
}

/* ---- calls ---- */

static argument argument_of(const test* t, const side* s) {
  argument a = {NULL, t->rubbish ? -1 : 0, t->rubbish ? MPI_DATATYPE_NULL : MPI_BYTE, NULL, NULL, NULL};
  int all = 0;
  for (int b = 0; b < s->blocks; ++b) all += s->counts[b];
  if (s->blocks == 0) return a;
  a = (argument){s->image.actual + s->image.base, s->counts[0], s->types[0], s->counts, s->displs, s->types};
  if (all == 0 && t->rubbish) a.buffer = NULL;
  return a;
}

static void make_call(test* t) {
  call* const c = &t->call;
  c->what = t->what;
  c->in = argument_of(t, &t->in);
  c->out = argument_of(t, &t->out);
  c->root = t->root;
  c->comm = t->g->comm;
  if (in_place_here(t))
    *(t->what == kScatter || t->what == kScatterv ? &c->out : &c->in) =
        (argument){MPI_IN_PLACE, c->in.count, c->in.type, NULL, NULL, NULL};
  if (!is_reduction(t->what)) return;
  c->op = operations[t->operation].op;
  c->in.count = c->out.count = t->units;
  c->in.type = t->kind->type;
  if (t->what != kReduceScatter) return;
  t->shares = malloc((size_t)t->g->size * sizeof *t->shares);
  for (int r = 0; r < t->g->size; ++r) t->shares[r] = block_units(t, r, 0);
  c->out.counts = t->shares;
}

static void prepare(test* t, dice* own) {
  char text[500];
  if (verbose && t->g->rank == 0) {
    describe(t, text, sizeof text);
    fprintf(stderr, "case %d: %s\n", case_number, text);
  }
  if (is_reduction(t->what)) {
    make_operands(t, &t->in, 1, own);
    make_operands(t, &t->out, 0, own);
  } else {
    make_blocks(t, &t->in, 1, own);
    make_blocks(t, &t->out, 0, own);
  }
  make_call(t);
}

static void begin(test* t) {
  side_guard(&t->in, world_rank);
  side_guard(&t->out, world_rank);
  if (is_reduction(t->what))
    fill_operands(t);
  else
    fill_blocks(t);
  t->entered = MPI_Wtime();
  if (t->form == kBlocking) must(t, call_blocking(&t->call));
  if (t->form == kNonblocking) must(t, call_nonblocking(&t->call, &t->request));
  if (t->form == kPersistent && round_number == 0) must(t, call_persistent(&t->call, &t->request));
  if (t->form == kPersistent) must(t, MPI_Start(&t->request));
  t->left = MPI_Wtime();
}

static void complete(test* t, dice* own) {
  int done = t->form == kBlocking || below(own, 3) != 0;
  if (t->form != kBlocking && done) must(t, MPI_Wait(&t->request, MPI_STATUS_IGNORE));
  while (!done) must(t, MPI_Test(&t->request, &done, MPI_STATUS_IGNORE));
  t->left = MPI_Wtime();
}

static void check_side(const test* t, const char* name, const side* s) {
  char what[200], text[300];
  if (s->blocks == 0) return;
  const ptrdiff_t at = image_difference(&s->image);
  if (at < 0) return;
  side_explain(s, at, what, sizeof what);
  snprintf(text, sizeof text, "%s buffer: %s is 0x%02x instead of 0x%02x", name, what, s->image.actual[at],
           s->image.expected[at]);
  complain(t, text);
}

/* Nobody leaves a barrier before all have entered. */
static void check_barrier(const test* t) {
  double last = 0, first = 0;
  must(t, MPI_Allreduce(&t->entered, &last, 1, MPI_DOUBLE, MPI_MAX, t->g->comm));
  must(t, MPI_Allreduce(&t->left, &first, 1, MPI_DOUBLE, MPI_MIN, t->g->comm));
  if (first < last) complain(t, "a rank has left before another one came");
}

static void check(test* t) {
  if (t->what == kBarrier) return check_barrier(t);
  if (is_reduction(t->what)) accept_what_may_be(t);
  check_side(t, t->what == kBcast ? "the" : "the send", &t->in);
  check_side(t, "the receive", &t->out);
}

static void end(test* t) {
  if (t->request != MPI_REQUEST_NULL) must(t, MPI_Request_free(&t->request));
  side_free(&t->in);
  side_free(&t->out);
  free(t->shares);
}

/* ---- cases ---- */

/* Some ranks come late. */
static void delay(dice* own) {
  if (below(own, 40) == 0) usleep((useconds_t)below(own, 200));
}

/* Draws the calls of a case on the groups that the caller is in; returns how many. */
static int prepare_case(test* tests, const group* world, const group* part, dice* d, dice* own) {
  const int in_flight = below(d, 3) == 0 ? 1 + below(d, kMostInFlight) : 1;
  int mine = 0;
  for (int i = 0; i < in_flight; ++i) {
    const group* const g = below(d, 3) == 0 ? world : part;
    dice of_group = mix_of(*d, (uint64_t)g->number);
    if (g->comm == MPI_COMM_NULL) continue;
    draw(&tests[mine], g, &of_group);
    prepare(&tests[mine++], own);
  }
  return mine;
}

/* A few in flight at once, which each rank completes in an order of its own; persistent ones several
   times. */
static void run_case(const group* world, const group* part, dice d) {
  test tests[kMostInFlight];
  int waiting[kMostInFlight];
  dice own = mix_of(mix(d), (uint64_t)world_rank);
  const int rounds = 1 + below(&d, 3), calls = prepare_case(tests, world, part, &d, &own);
  for (round_number = 0; round_number < rounds; ++round_number) {
    int begun = 0;
    for (int i = 0; i < calls; ++i) {
      if (round_number > 0 && tests[i].form != kPersistent) continue;
      delay(&own);
      begin(&tests[i]);
      const int other = below(&own, begun + 1);
      waiting[begun++] = waiting[other];
      waiting[other] = i;
    }
    for (int i = 0; i < begun; ++i) complete(&tests[waiting[i]], &own);
    for (int i = 0; i < calls; ++i)
      if (round_number == 0 || tests[i].form == kPersistent) check(&tests[i]);
  }
  for (int i = 0; i < calls; ++i) end(&tests[i]);
}

/* Divides the world at random, with ranks in any order; some are in no part. */
static void split(group* g, dice* d) {
  const int colours = 1 + below(d, 4);
  int* colour = calloc((size_t)world_size, sizeof *colour);
  int* key = calloc((size_t)world_size, sizeof *key);
  int rank = 0, size = 0;
  for (int r = 0; r < world_size; ++r) {
    const int one = below(d, colours), other = below(d, colours); /* so some parts are larger */
    colour[r] = colours > 1 && below(d, 16) == 0 ? MPI_UNDEFINED : one < other ? one : other;
    key[r] = below(d, world_size + 1);
  }
  for (int r = 0; r < world_size; ++r) {
    if (colour[r] != colour[world_rank]) continue;
    ++size;
    if (key[r] < key[world_rank] || (key[r] == key[world_rank] && r < world_rank)) ++rank;
  }
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, colour[world_rank], key[world_rank], &g->comm));
  g->number = colour[world_rank];
  if (g->comm != MPI_COMM_NULL) {
    CHECK_OK(MPI_Comm_rank(g->comm, &g->rank));
    CHECK_OK(MPI_Comm_size(g->comm, &g->size));
    CHECK_EQ(g->rank, rank);
    CHECK_EQ(g->size, size);
  }
  free(colour);
  free(key);
}

static void run(int first, int cases) {
  const group world = {MPI_COMM_WORLD, -1, world_rank, world_size};
  group part = {MPI_COMM_NULL, 0, 0, 0};
  for (int c = first; c < first + cases; ++c) {
    if (c == first || c % kCasesOfASplit == 0) {
      dice of_split = mix_of(seed, (uint64_t)(c / kCasesOfASplit));
      if (part.comm != MPI_COMM_NULL) MPI_Comm_free(&part.comm);
      split(&part, &of_split);
    }
    case_number = c;
    run_case(&world, &part, mix_of(mix(seed), (uint64_t)c));
  }
  if (part.comm != MPI_COMM_NULL) MPI_Comm_free(&part.comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  program = argv[0];
  const int cases = argc > 1 ? atoi(argv[1]) : 100, first = argc > 3 ? atoi(argv[3]) : 0;
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed_of_ranks(1);
  verbose = argc > 4;
  kinds_begin();
  operations_begin();
  run(first, cases);
  operations_end();
  kinds_end();
  MPI_Finalize();
  return check_result();
}
