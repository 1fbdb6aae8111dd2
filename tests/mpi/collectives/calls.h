/* Any collective in any of its three forms, with its arguments as data: so that a test can draw one. */
#ifndef CLUMP_TESTS_CALLS_H
#define CLUMP_TESTS_CALLS_H

#include "check.h"

enum collective {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kCollectives
};

static const char* const collective_names[] = {
    "barrier",   "bcast",      "reduce",   "allreduce", "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan",     "gather",   "gatherv",   "scatter",        "scatterv",
    "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"};

enum form { kBlocking, kNonblocking, kPersistent, kForms };
static const char* const form_names[] = {"blocking", "non-blocking", "persistent"};

typedef struct {
  void* buffer;
  int count;
  MPI_Datatype type;
  int *counts, *displs;
  MPI_Datatype* types;
} argument;

/* Of a broadcast the buffer is `in`; reductions take count and type from `in`, too. */
typedef struct {
  enum collective what;
  argument in, out;
  MPI_Op op;
  int root;
  MPI_Comm comm;
} call;

static inline int call_blocking(const call* c) {
  const argument *in = &c->in, *out = &c->out;
  switch (c->what) {
    case kBarrier:
      return MPI_Barrier(c->comm);
    case kBcast:
      return MPI_Bcast(in->buffer, in->count, in->type, c->root, c->comm);
    case kReduce:
      return MPI_Reduce(in->buffer, out->buffer, in->count, in->type, c->op, c->root, c->comm);
    case kAllreduce:
      return MPI_Allreduce(in->buffer, out->buffer, in->count, in->type, c->op, c->comm);
    case kReduceScatter:
      return MPI_Reduce_scatter(in->buffer, out->buffer, out->counts, in->type, c->op, c->comm);
    case kReduceScatterBlock:
      return MPI_Reduce_scatter_block(in->buffer, out->buffer, out->count, in->type, c->op, c->comm);
    case kScan:
      return MPI_Scan(in->buffer, out->buffer, in->count, in->type, c->op, c->comm);
    case kExscan:
      return MPI_Exscan(in->buffer, out->buffer, in->count, in->type, c->op, c->comm);
    case kGather:
      return MPI_Gather(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->root,
                        c->comm);
    case kGatherv:
      return MPI_Gatherv(in->buffer, in->count, in->type, out->buffer, out->counts, out->displs, out->type,
                         c->root, c->comm);
    case kScatter:
      return MPI_Scatter(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->root,
                         c->comm);
    case kScatterv:
      return MPI_Scatterv(in->buffer, in->counts, in->displs, in->type, out->buffer, out->count, out->type,
                          c->root, c->comm);
    case kAllgather:
      return MPI_Allgather(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->comm);
    case kAllgatherv:
      return MPI_Allgatherv(in->buffer, in->count, in->type, out->buffer, out->counts, out->displs, out->type,
                            c->comm);
    case kAlltoall:
      return MPI_Alltoall(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->comm);
    case kAlltoallv:
      return MPI_Alltoallv(in->buffer, in->counts, in->displs, in->type, out->buffer, out->counts,
                           out->displs, out->type, c->comm);
    default:
      return MPI_Alltoallw(in->buffer, in->counts, in->displs, in->types, out->buffer, out->counts,
                           out->displs, out->types, c->comm);
  }
}

static inline int call_nonblocking(const call* c, MPI_Request* request) {
  const argument *in = &c->in, *out = &c->out;
  switch (c->what) {
    case kBarrier:
      return MPI_Ibarrier(c->comm, request);
    case kBcast:
      return MPI_Ibcast(in->buffer, in->count, in->type, c->root, c->comm, request);
    case kReduce:
      return MPI_Ireduce(in->buffer, out->buffer, in->count, in->type, c->op, c->root, c->comm, request);
    case kAllreduce:
      return MPI_Iallreduce(in->buffer, out->buffer, in->count, in->type, c->op, c->comm, request);
    case kReduceScatter:
      return MPI_Ireduce_scatter(in->buffer, out->buffer, out->counts, in->type, c->op, c->comm, request);
    case kReduceScatterBlock:
      return MPI_Ireduce_scatter_block(in->buffer, out->buffer, out->count, in->type, c->op, c->comm,
                                       request);
    case kScan:
      return MPI_Iscan(in->buffer, out->buffer, in->count, in->type, c->op, c->comm, request);
    case kExscan:
      return MPI_Iexscan(in->buffer, out->buffer, in->count, in->type, c->op, c->comm, request);
    case kGather:
      return MPI_Igather(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->root,
                         c->comm, request);
    case kGatherv:
      return MPI_Igatherv(in->buffer, in->count, in->type, out->buffer, out->counts, out->displs, out->type,
                          c->root, c->comm, request);
    case kScatter:
      return MPI_Iscatter(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->root,
                          c->comm, request);
    case kScatterv:
      return MPI_Iscatterv(in->buffer, in->counts, in->displs, in->type, out->buffer, out->count, out->type,
                           c->root, c->comm, request);
    case kAllgather:
      return MPI_Iallgather(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->comm,
                            request);
    case kAllgatherv:
      return MPI_Iallgatherv(in->buffer, in->count, in->type, out->buffer, out->counts, out->displs,
                             out->type, c->comm, request);
    case kAlltoall:
      return MPI_Ialltoall(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->comm,
                           request);
    case kAlltoallv:
      return MPI_Ialltoallv(in->buffer, in->counts, in->displs, in->type, out->buffer, out->counts,
                            out->displs, out->type, c->comm, request);
    default:
      return MPI_Ialltoallw(in->buffer, in->counts, in->displs, in->types, out->buffer, out->counts,
                            out->displs, out->types, c->comm, request);
  }
}

static inline int call_persistent(const call* c, MPI_Request* request) {
  const argument *in = &c->in, *out = &c->out;
  const MPI_Info info = MPI_INFO_NULL;
  switch (c->what) {
    case kBarrier:
      return MPI_Barrier_init(c->comm, info, request);
    case kBcast:
      return MPI_Bcast_init(in->buffer, in->count, in->type, c->root, c->comm, info, request);
    case kReduce:
      return MPI_Reduce_init(in->buffer, out->buffer, in->count, in->type, c->op, c->root, c->comm, info,
                             request);
    case kAllreduce:
      return MPI_Allreduce_init(in->buffer, out->buffer, in->count, in->type, c->op, c->comm, info, request);
    case kReduceScatter:
      return MPI_Reduce_scatter_init(in->buffer, out->buffer, out->counts, in->type, c->op, c->comm, info,
                                     request);
    case kReduceScatterBlock:
      return MPI_Reduce_scatter_block_init(in->buffer, out->buffer, out->count, in->type, c->op, c->comm,
                                           info, request);
    case kScan:
      return MPI_Scan_init(in->buffer, out->buffer, in->count, in->type, c->op, c->comm, info, request);
    case kExscan:
      return MPI_Exscan_init(in->buffer, out->buffer, in->count, in->type, c->op, c->comm, info, request);
    case kGather:
      return MPI_Gather_init(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->root,
                             c->comm, info, request);
    case kGatherv:
      return MPI_Gatherv_init(in->buffer, in->count, in->type, out->buffer, out->counts, out->displs,
                              out->type, c->root, c->comm, info, request);
    case kScatter:
      return MPI_Scatter_init(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->root,
                              c->comm, info, request);
    case kScatterv:
      return MPI_Scatterv_init(in->buffer, in->counts, in->displs, in->type, out->buffer, out->count,
                               out->type, c->root, c->comm, info, request);
    case kAllgather:
      return MPI_Allgather_init(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->comm,
                                info, request);
    case kAllgatherv:
      return MPI_Allgatherv_init(in->buffer, in->count, in->type, out->buffer, out->counts, out->displs,
                                 out->type, c->comm, info, request);
    case kAlltoall:
      return MPI_Alltoall_init(in->buffer, in->count, in->type, out->buffer, out->count, out->type, c->comm,
                               info, request);
    case kAlltoallv:
      return MPI_Alltoallv_init(in->buffer, in->counts, in->displs, in->type, out->buffer, out->counts,
                                out->displs, out->type, c->comm, info, request);
    default:
      return MPI_Alltoallw_init(in->buffer, in->counts, in->displs, in->types, out->buffer, out->counts,
                                out->displs, out->types, c->comm, info, request);
  }
}

#endif
