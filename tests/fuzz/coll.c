/* Part coll: each step is a collective operation on one of several communicators: blocking, non-blocking, or
   persistent and started again by a later step. What is begun stays under way while others go on; each thread
   has communicators of its own. What a rank sends to its peers and gets from them are blocks; a block's data
   follow from who sends it to whom. */
#include "comms.h"
#include "data.h"
#include "reduce.h"

enum {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kNeighborAllgather,
  kNeighborAllgatherv,
  kNeighborAlltoall,
  kNeighborAlltoallv,
  kNeighborAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kKinds
};
static const char* const kNames[] = {"barrier",
                                     "bcast",
                                     "gather",
                                     "gatherv",
                                     "scatter",
                                     "scatterv",
                                     "allgather",
                                     "allgatherv",
                                     "alltoall",
                                     "alltoallv",
                                     "alltoallw",
                                     "neighbor_allgather",
                                     "neighbor_allgatherv",
                                     "neighbor_alltoall",
                                     "neighbor_alltoallv",
                                     "neighbor_alltoallw",
                                     "reduce",
                                     "allreduce",
                                     "reduce_scatter",
                                     "reduce_scatter_block",
                                     "scan",
                                     "exscan"};
enum { kBlocking, kNonblocking, kPersistent, kAgain };
enum { kMostEdges = 5, kToAll = 1000 };

typedef struct {
  int kind, form, comm, root, in_place, units, per, reduction,
      of; /* per: patterns of a unit; of: what kAgain starts */
  Pattern pattern;
} Call;
/* The blocks of one buffer: block i has counts[i] types at displs[i] extents. */
typedef struct {
  int blocks, peers[kMostRanks], edges[kMostRanks], counts[kMostRanks], displs[kMostRanks],
      byte_displs[kMostRanks];
  MPI_Aint long_displs[kMostRanks];
  MPI_Datatype types[kMostRanks];
  Type type;
  Buffer buffer;
} Blocks;
/* A call that is under way, or can be started again. */
typedef struct {
  MPI_Request request;
  int known, active, round;
  Blocks out, in;
  long operands, results; /* of a reduction: how many this rank gives and gets */
  int shares[kMostRanks];
  char *give, *get; /* with 64 bytes before and behind */
} Live;
typedef struct {
  int ins, outs, in[kMostRanks], out[kMostRanks];
} Graph;

static Call calls[kMostSteps];
static Live live[kMostSteps];
static Known comms[kMostComms];
static Graph graphs[kMostComms];
static int comm_count, graph_count, call_count, threads;
static Random own[kMostThreads];

static int reduces(const Call* c) { return c->kind >= kReduce; }
static int is_neighbor(const Call* c) {
  return c->kind >= kNeighborAllgather && c->kind <= kNeighborAlltoallw;
}
static int is_variable(const Call* c) {
  return c->kind == kGatherv || c->kind == kScatterv || c->kind == kAllgatherv || c->kind == kAlltoallv ||
         c->kind == kAlltoallw || c->kind == kNeighborAllgatherv || c->kind == kNeighborAlltoallv ||
         c->kind == kNeighborAlltoallw;
}
static int thread_of(const Call* c) { return c->comm % threads; }
static const char* name_of(const Call* c) {
  static _Thread_local char text[300];
  snprintf(text, sizeof text,
           "%s%s on communicator %d (%s, %d + %d ranks), root %d, in place %d, %d units of %d x %d bytes, "
           "reduction %d, by thread %d",
           c->form == kNonblocking  ? "i"
           : c->form == kPersistent ? "persistent "
           : c->form == kAgain      ? "again "
                                    : "",
           kNames[c->kind], c->comm, comms[c->comm].kind, comms[c->comm].side[0].count,
           comms[c->comm].side[1].count, c->root, c->in_place, c->units, c->per, c->pattern.bytes,
           c->reduction, thread_of(c));
  return text;
}

/* --- who sends what to whom --- */
static uint64_t data_of(const Call* c, int round, int from, int to, int edge) {
  const int step = (int)(c - calls);
  return hash(hash(fuzz.seed, (uint64_t)step + 500),
              hash((uint64_t)(from * 2000 + to), (uint64_t)(round * 64 + edge))) |
         1;
}
/* Units of the block between two ranks: the same in both directions, so that it can be in place. */
static int units_between(const Call* c, int a, int b) {
  const int low = a < b ? a : b, high = a < b ? b : a;
  const uint64_t h = hash(hash(fuzz.seed, (uint64_t)(c - calls)), (uint64_t)(low * 2000 + high));
  return !is_variable(c) ? c->units : h % 4 == 0 ? 0 : (int)(h / 4 % (uint64_t)(c->units + 1));
}
static int units_of_block(const Call* c, int from, int to) {
  return units_between(c, to == kToAll ? from : from, to == kToAll ? from : to);
}
static void add_block(Blocks* b, int peer, int edge) {
  b->peers[b->blocks] = peer;
  b->edges[b->blocks++] = edge;
}
static void add_all(Blocks* b, const Members* peers) {
  for (int i = 0; i < peers->count; i++) add_block(b, peers->ranks[i], 0);
}
/* Which blocks this rank sends and receives. */
static void list_blocks(const Call* c, Blocks* out, Blocks* in) {
  const Known* k = &comms[c->comm];
  const Members* peers = peers_of(k);
  const int is_root = c->root == fuzz.rank, beside_root = k->inter && place_of(local_of(k), c->root) >= 0;
  const Graph* g = &graphs[c->comm];
  out->blocks = in->blocks = 0;
  if (c->kind == kBcast && is_root) add_block(out, kToAll, 0);
  if (c->kind == kBcast && !is_root && !beside_root) add_block(in, c->root, 0);
  if ((c->kind == kGather || c->kind == kGatherv) && !beside_root) add_block(out, c->root, 0);
  if ((c->kind == kGather || c->kind == kGatherv) && is_root) add_all(in, peers);
  if ((c->kind == kScatter || c->kind == kScatterv) && is_root) add_all(out, peers);
  if ((c->kind == kScatter || c->kind == kScatterv) && !beside_root) add_block(in, c->root, 0);
  if (c->kind == kAllgather || c->kind == kAllgatherv) add_block(out, kToAll, 0);
  if (c->kind >= kAllgather && c->kind <= kAlltoallw) add_all(in, peers);
  if (c->kind >= kAlltoall && c->kind <= kAlltoallw) add_all(out, peers);
  if (!is_neighbor(c)) return;
  if (c->kind <= kNeighborAllgatherv) add_block(out, kToAll, 0);
  for (int i = 0; i < g->outs && c->kind >= kNeighborAlltoall; i++) {
    int edge = 0; /* the number of this edge among those to the same rank */
    for (int j = 0; j < i; j++) edge += g->out[j] == g->out[i];
    add_block(out, g->out[i], edge);
  }
  for (int i = 0; i < g->ins; i++) {
    int edge = 0;
    for (int j = 0; j < i; j++) edge += g->in[j] == g->in[i];
    add_block(in, g->in[i], c->kind >= kNeighborAlltoall ? edge : 0);
  }
}
/* Whether all ranks give one block to all: then its data do not say for whom they are. */
static int to_all(const Call* c) {
  return c->kind == kBcast || c->kind == kAllgather || c->kind == kAllgatherv ||
         c->kind == kNeighborAllgather || c->kind == kNeighborAllgatherv;
}
static int units_sent(const Call* c, int from, int to) {
  if (to_all(c)) return units_of_block(c, from, kToAll);
  if (c->kind == kGatherv) return units_of_block(c, from, from);
  if (c->kind == kScatterv) return units_of_block(c, to, to);
  return units_of_block(c, from, to);
}
static void lay_out(Random* random, const Call* c, Blocks* b, int sends, int scattered) {
  const int share = share_of(random, c->per);
  int order[kMostRanks], at = 0;
  b->type = type_of(random, &c->pattern, share);
  permute(random, order, b->blocks);
  for (int i = 0; i < b->blocks; i++) {
    const int block = scattered ? order[i] : i, peer = b->peers[block];
    const int units = sends ? units_sent(c, fuzz.rank, peer) : units_sent(c, peer, fuzz.rank);
    if (scattered) at += below(random, 3);
    b->counts[block] = units * (c->per / share);
    b->displs[block] = at;
    b->long_displs[block] = at * b->type.extent;
    b->byte_displs[block] = (int)b->long_displs[block];
    b->types[block] = b->type.type;
    at += b->counts[block];
  }
  b->buffer = buffer_of(&b->type, at, draw(random));
}
static void put_blocks(const Call* c, const Blocks* b, int round, int sends, char* base) {
  for (int i = 0; i < b->blocks; i++) {
    const int from = sends ? fuzz.rank : b->peers[i], to = to_all(c) ? kToAll
                                                           : sends   ? b->peers[i]
                                                                     : fuzz.rank;
    put_elements(&b->type, base + b->long_displs[i], 0, (long)b->counts[i] * b->type.count,
                 data_of(c, round, from, to, b->edges[i]), 0);
  }
}

/* In place of what: of the send buffer, or of the receive buffer (scatter). */
static int in_place_here(const Call* c) {
  const int rooted = c->kind == kGather || c->kind == kGatherv || c->kind == kScatter ||
                     c->kind == kScatterv || c->kind == kReduce;
  return c->in_place && (!rooted || c->root == fuzz.rank);
}
/* Gives buffers what they have before the call; for one that is in place, this rank's own part. */
static void fill_buffers(const Call* c, Live* l) {
  if (reduces(c)) {
    const uint64_t data = data_of(c, l->round, 0, 0, 0);
    char* into = in_place_here(c) ? l->get : l->give;
    put_operands(c->reduction, data, fuzz.rank, 0, l->operands, into + 64);
    return;
  }
  fill(l->in.buffer.memory, l->in.buffer.bytes, l->in.buffer.background);
  put_blocks(c, &l->out, l->round, 1, l->out.buffer.base);
  if (!in_place_here(c) || c->kind == kScatter || c->kind == kScatterv) return;
  for (int i = 0; i < l->in.blocks; i++) { /* alltoall: what goes to a rank lies where its own comes */
    const int peer = l->in.peers[i], all = c->kind >= kAlltoall;
    if (!all && peer != fuzz.rank) continue;
    put_elements(&l->in.type, l->in.buffer.base + l->in.long_displs[i], 0,
                 (long)l->in.counts[i] * l->in.type.count,
                 data_of(c, l->round, fuzz.rank,
                         to_all(c) ? kToAll
                         : all     ? peer
                                   : c->root,
                         0),
                 0);
  }
}
static void prepare(Random* random, const Call* c, Live* l) {
  *l = (Live){.request = MPI_REQUEST_NULL, .known = 1};
  if (c->kind == kBarrier) return;
  if (!reduces(c)) {
    list_blocks(c, &l->out, &l->in);
    lay_out(random, c, &l->out, 1, is_variable(c) && l->out.blocks > 1 && chance(random, 60));
    lay_out(random, c, &l->in, 0, is_variable(c) && l->in.blocks > 1 && chance(random, 60));
    return;
  }
  const Known* k = &comms[c->comm];
  const int n = local_of(k)->count, me = place_of(local_of(k), fuzz.rank), extent = extent_of(c->reduction);
  l->operands = l->results = c->units;
  for (int i = 0; i < n; i++)
    l->shares[i] = (int)(hash((uint64_t)c->units, (uint64_t)i) % (uint64_t)(c->units / n + 1));
  if (c->kind == kReduceScatterBlock) l->results = c->units / n;
  if (c->kind == kReduceScatterBlock) l->operands = l->results * n;
  if (c->kind == kReduceScatter) {
    l->results = l->shares[me];
    l->operands = 0;
    for (int i = 0; i < n; i++) l->operands += l->shares[i];
  }
  const size_t bytes = (size_t)(c->units + n) * (size_t)extent + 128;
  l->give = malloc(bytes);
  l->get = malloc(bytes);
  fill(l->give, bytes, 1);
  fill(l->get, bytes, 2);
}

/* --- the calls --- */
#define FORM(Name, iname, ...)                                                                    \
  do {                                                                                            \
    if (c->form == kBlocking) MPI_##Name(__VA_ARGS__, comm);                                      \
    if (c->form == kNonblocking) MPI_I##iname(__VA_ARGS__, comm, &l->request);                    \
    if (c->form == kPersistent) MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &l->request); \
    return;                                                                                       \
  } while (0)
static int root_argument(const Call* c) {
  const Known* k = &comms[c->comm];
  if (!k->inter) return place_of(local_of(k), c->root);
  if (c->root == fuzz.rank) return MPI_ROOT;
  return place_of(local_of(k), c->root) >= 0 ? MPI_PROC_NULL : place_of(peers_of(k), c->root);
}
static void call_reduction(const Call* c, Live* l, MPI_Op op, MPI_Datatype type) {
  const MPI_Comm comm = comms[c->comm].comm;
  const void* give = in_place_here(c) ? MPI_IN_PLACE : l->give + 64;
  void* get = l->get + 64;
  const int count = (int)l->operands, results = (int)l->results, root = root_argument(c);
  if (c->kind == kReduce) FORM(Reduce, reduce, give, get, count, type, op, root);
  if (c->kind == kAllreduce) FORM(Allreduce, allreduce, give, get, count, type, op);
  if (c->kind == kReduceScatter) FORM(Reduce_scatter, reduce_scatter, give, get, l->shares, type, op);
  if (c->kind == kReduceScatterBlock)
    FORM(Reduce_scatter_block, reduce_scatter_block, give, get, results, type, op);
  if (c->kind == kScan) FORM(Scan, scan, give, get, count, type, op);
  FORM(Exscan, exscan, give, get, count, type, op);
}
static void call_neighbor(const Call* c, Live* l) {
  const MPI_Comm comm = comms[c->comm].comm;
  Blocks *s = &l->out, *r = &l->in;
  const void* out = s->buffer.base;
  void* in = r->buffer.base;
  const int sent = s->blocks ? s->counts[0] : 0, room = r->blocks ? r->counts[0] : 0;
  if (c->kind == kNeighborAllgather)
    FORM(Neighbor_allgather, neighbor_allgather, out, sent, s->type.type, in, room, r->type.type);
  if (c->kind == kNeighborAllgatherv)
    FORM(Neighbor_allgatherv, neighbor_allgatherv, out, sent, s->type.type, in, r->counts, r->displs,
         r->type.type);
  if (c->kind == kNeighborAlltoall)
    FORM(Neighbor_alltoall, neighbor_alltoall, out, sent, s->type.type, in, room, r->type.type);
  if (c->kind == kNeighborAlltoallv)
    FORM(Neighbor_alltoallv, neighbor_alltoallv, out, s->counts, s->displs, s->type.type, in, r->counts,
         r->displs, r->type.type);
  FORM(Neighbor_alltoallw, neighbor_alltoallw, out, s->counts, s->long_displs, s->types, in, r->counts,
       r->long_displs, r->types);
}
static void call_movement(const Call* c, Live* l) {
  const MPI_Comm comm = comms[c->comm].comm;
  Blocks *s = &l->out, *r = &l->in;
  const int scatters = c->kind == kScatter || c->kind == kScatterv, here = in_place_here(c),
            root = root_argument(c);
  const void* out = here && !scatters ? MPI_IN_PLACE : s->buffer.base;
  void* in = here && scatters ? MPI_IN_PLACE : r->buffer.base;
  const int sent = s->blocks ? s->counts[0] : 0, room = r->blocks ? r->counts[0] : 0;
  const MPI_Datatype st = s->type.type, rt = r->type.type;
  if (c->kind == kBarrier) {
    if (c->form == kBlocking) MPI_Barrier(comm);
    if (c->form == kNonblocking) MPI_Ibarrier(comm, &l->request);
    if (c->form == kPersistent) MPI_Barrier_init(comm, MPI_INFO_NULL, &l->request);
    return;
  }
  if (c->kind == kBcast && s->blocks) FORM(Bcast, bcast, (void*)s->buffer.base, sent, st, root);
  if (c->kind == kBcast) FORM(Bcast, bcast, in, room, rt, root);
  if (c->kind == kGather) FORM(Gather, gather, out, sent, st, in, room, rt, root);
  if (c->kind == kGatherv) FORM(Gatherv, gatherv, out, sent, st, in, r->counts, r->displs, rt, root);
  if (c->kind == kScatter) FORM(Scatter, scatter, out, sent, st, in, room, rt, root);
  if (c->kind == kScatterv) FORM(Scatterv, scatterv, out, s->counts, s->displs, st, in, room, rt, root);
  if (c->kind == kAllgather) FORM(Allgather, allgather, out, sent, st, in, room, rt);
  if (c->kind == kAllgatherv) FORM(Allgatherv, allgatherv, out, sent, st, in, r->counts, r->displs, rt);
  if (c->kind == kAlltoall) FORM(Alltoall, alltoall, out, sent, st, in, room, rt);
  if (c->kind == kAlltoallv)
    FORM(Alltoallv, alltoallv, out, s->counts, s->displs, st, in, r->counts, r->displs, rt);
  FORM(Alltoallw, alltoallw, out, s->counts, s->byte_displs, s->types, in, r->counts, r->byte_displs,
       r->types);
}
/* Calls MPI; an operation and a type of the program's own are freed as soon as the call has them. */
static void call(const Call* c, Live* l) {
  if (is_neighbor(c)) call_neighbor(c, l);
  if (!reduces(c) && !is_neighbor(c)) call_movement(c, l);
  if (!reduces(c)) return;
  MPI_Op op;
  MPI_Datatype type;
  const int made = make_reduction(c->reduction, &op, &type);
  call_reduction(c, l, op, type);
  if (made) MPI_Type_free(&type);
  if (made) MPI_Op_free(&op);
}

/* --- what has come --- */
static void check_reduction(const Call* c, const Live* l) {
  const Known* k = &comms[c->comm];
  const Members* peers = peers_of(k);
  const int me = place_of(local_of(k), fuzz.rank), extent = extent_of(c->reduction),
            n = c->kind == kScan     ? me + 1
                : c->kind == kExscan ? me
                                     : peers->count;
  const size_t bytes = (size_t)(c->units + local_of(k)->count) * (size_t)extent + 128;
  const uint64_t data = data_of(c, l->round, 0, 0, 0);
  long first = 0;
  if (c->kind == kExscan && me == 0) return;
  if (c->kind == kReduce && c->root != fuzz.rank) return;
  for (int i = 0; i < me && c->kind == kReduceScatter; i++) first += l->shares[i];
  if (c->kind == kReduceScatterBlock) first = me * l->results;
  char* expected = malloc(bytes);
  fill(expected, bytes, 2);
  put_results(c->reduction, data, peers->ranks, n, first, l->results, expected + 64);
  /* In place, what lies behind the result of a reduce_scatter may be anything. */
  const size_t look = in_place_here(c) ? 64 + (size_t)l->results * (size_t)extent : bytes;
  for (size_t i = 0; i < look; i++) {
    const int gap = i >= 64 && i < 64 + (size_t)(l->results * extent) &&
                    (int)((i - 64) % (size_t)extent) >= value_bytes(c->reduction);
    CHECK(gap || expected[i] == l->get[i], "%s: byte %ld, of operand %ld, is %02x, should be %02x (round %d)",
          name_of(c), (long)i - 64, ((long)i - 64) / extent, (unsigned char)l->get[i],
          (unsigned char)expected[i], l->round);
  }
  fill(expected, bytes, 1);
  if (!in_place_here(c)) put_operands(c->reduction, data, fuzz.rank, 0, l->operands, expected + 64);
  CHECK(!memcmp(expected, l->give, bytes), "%s: the send buffer has changed", name_of(c));
  free(expected);
}
static void check(const Call* c, Live* l) {
  if (c->kind == kBarrier) return;
  if (reduces(c)) return check_reduction(c, l);
  char *in = background_of(&l->in.buffer), *out = background_of(&l->out.buffer);
  if (!(in_place_here(c) && (c->kind == kScatter || c->kind == kScatterv)))
    put_blocks(c, &l->in, l->round, 0, in + (l->in.buffer.base - l->in.buffer.memory));
  compare(&l->in.buffer, in, name_of(c));
  put_blocks(c, &l->out, l->round, 1, out + (l->out.buffer.base - l->out.buffer.memory));
  compare(&l->out.buffer, out, "the send buffer of a collective");
}
static void drop(const Call* c, Live* l) {
  if (!l->known) return;
  l->known = 0;
  if (l->request != MPI_REQUEST_NULL) MPI_Request_free(&l->request);
  free(l->give);
  free(l->get);
  if (c->kind == kBarrier || reduces(c)) return;
  drop_type(&l->in.type);
  drop_type(&l->out.type);
  free(l->in.buffer.memory);
  free(l->out.buffer.memory);
}
static void ended(int step) {
  live[step].active = 0;
  check(&calls[step], &live[step]);
  if (calls[step].form != kPersistent) drop(&calls[step], &live[step]);
}

/* --- the steps of a thread --- */
/* Completes some of what is under way, or all. */
static void progress(int thread, int all) {
  MPI_Request requests[kMostSteps];
  int steps[kMostSteps], indices[kMostSteps], count = 0, done = 0, flag = 0;
  Random* random = &own[thread];
  for (int i = 0; i < call_count; i++) {
    if (thread_of(&calls[i]) != thread || !live[i].active || (!all && chance(random, 60))) continue;
    steps[count] = i;
    requests[count++] = live[i].request;
  }
  if (count == 0) return;
  const int way = below(random, all ? 3 : 5), one = below(random, count);
  if (way == 0) MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
  if (way == 1) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if (way == 2) complete(random, &requests[one], MPI_STATUS_IGNORE);
  if (way == 3) MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
  if (way == 4) MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
  if (way == 2) indices[done++] = one;
  if (way == 1 || (way == 4 && flag))
    for (done = 0; done < count; done++) indices[done] = done;
  for (int i = 0; i < done; i++) {
    live[steps[indices[i]]].request = requests[indices[i]];
    ended(steps[indices[i]]);
  }
  if (all) progress(thread, 1);
}
static void again(int thread, int step) {
  Live* l = &live[step];
  if (!l->known) return; /* steps= leaves out the step that makes it */
  if (l->active) complete(&own[thread], &l->request, MPI_STATUS_IGNORE);
  if (l->active) ended(step);
  l->round++;
  fill_buffers(&calls[step], l);
  MPI_Start(&l->request);
  l->active = 1;
}
static void walk(int thread, void* data) {
  (void)data;
  for (int i = 0; i < call_count; i++) {
    const Call* c = &calls[i];
    if (!step_begins(i) || thread_of(c) != thread || comms[c->comm].here < 0) continue;
    if (c->form == kAgain) {
      again(thread, c->of);
      continue;
    }
    prepare(&own[thread], c, &live[i]);
    if (c->kind != kBarrier) fill_buffers(c, &live[i]);
    call(c, &live[i]);
    if (c->form == kPersistent) MPI_Start(&live[i].request);
    live[i].active = 1;
    if (c->form == kBlocking) ended(i);
    if (chance(&own[thread], 30)) progress(thread, 0);
  }
  for (int i = 0; i < comm_count; i++) { /* a communicator may go while operations on it are under way */
    int persistent =
        i % threads != thread || comms[i].comm == MPI_COMM_WORLD || comms[i].here < 0 || i % 3 == 0;
    for (int j = 0; j < call_count; j++) persistent |= calls[j].comm == i && calls[j].form >= kPersistent;
    if (!persistent) MPI_Comm_free(&comms[i].comm);
  }
  progress(thread, 1);
  for (int i = 0; i < call_count; i++)
    if (thread_of(&calls[i]) == thread) drop(&calls[i], &live[i]);
}

/* --- the plan --- */
/* A random graph on the ranks of comms[0], with several edges between the same two ranks. */
static void make_graph(int index) {
  Random random = plan_of(-2, 50 + index);
  Graph* g = &graphs[index];
  int ins[kMostRanks] = {0};
  memset(g, 0, sizeof *g);
  for (int from = 0; from < fuzz.size; from++)
    for (int edges = below(&random, kMostEdges); edges > 0; edges--) {
      const int to = below(&random, fuzz.size);
      if (ins[to]++ >= 3 * kMostEdges) continue;
      if (from == fuzz.rank) g->out[g->outs++] = to;
      if (to == fuzz.rank) g->in[g->ins++] = from;
    }
  comms[index] = comms[0];
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g->ins, g->in, MPI_UNWEIGHTED, g->outs, g->out,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comms[index].comm);
  know(&comms[index], "graph");
}
static Call call_of(int i) {
  Random random = plan_of(i, 0);
  Call c = {.comm = below(&random, comm_count), .of = -1};
  const Known* k = &comms[c.comm];
  const int is_graph = c.comm >= comm_count - graph_count, all = k->side[0].count + k->side[1].count;
  c.form = chance(&random, 40) ? kBlocking : chance(&random, 70) ? kNonblocking : kPersistent;
  c.kind = below(&random, kKinds);
  if (is_graph && chance(&random, 70)) c.kind = between(&random, kNeighborAllgather, kNeighborAlltoallw);
  if (!is_graph && is_neighbor(&c)) c.kind = kAllreduce;
  if (k->inter && c.kind > kAllreduce) c.kind = kAllreduce;
  const int root = below(&random, all);
  c.root = root < k->side[0].count ? k->side[0].ranks[root] : k->side[1].ranks[root - k->side[0].count];
  c.in_place = !k->inter && chance(&random, 30) && c.kind != kBcast && c.kind != kBarrier && !is_neighbor(&c);
  c.pattern = pattern_of(&random);
  c.per = between(&random, 1, 12);
  c.reduction = below(&random, kReductions);
  if (left_out(c.kind)) c.kind = kBarrier;
  if (left_out(100 + c.reduction)) c.reduction = kSumInt;
  const int bytes = bytes_of(&random, reduces(&c) ? 1000000 : 2000000 / all);
  c.units = bytes / (reduces(&c) ? extent_of(c.reduction) : c.pattern.bytes * c.per);
  return c;
}
static void plan(int steps) {
  Random random = plan_of(-2, 0);
  threads = chance(&random, 60) ? 1 : threads_of(&random, 3);
  comm_count = make_comms(&random, comms, kMostComms - 3, 1);
  if (threads > 1 || chance(&random, 30)) MPI_Comm_dup(MPI_COMM_WORLD, &comms[0].comm);
  graph_count = below(&random, 3);
  for (int i = 0; i < graph_count; i++) make_graph(comm_count++);
  call_count = steps;
  for (int i = 0; i < steps; i++) {
    Random later = plan_of(i, 1);
    calls[i] = call_of(i);
    live[i].known = live[i].active = 0;
    const int of = below(&later, i);
    if (i > 0 && chance(&later, 20) && calls[of].form == kPersistent) {
      calls[i] = calls[of];
      calls[i].form = kAgain;
      calls[i].of = of;
    }
    if (step_begins(i)) note("%s", name_of(&calls[i]));
  }
  for (int i = 0; i < threads; i++) own[i] = own_of(-2, 10 + i);
  in_threads(threads, walk, NULL);
  free_comms(&random, comms, comm_count);
}

int main(int argc, char** argv) {
  fuzz_init(argc, argv, "coll");
  run_seeds(40, plan);
  MPI_Finalize();
  return 0;
}
