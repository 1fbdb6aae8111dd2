/* Each collective in its three forms (MPI-5.0 sections 6.12 and 6.13): blocking, non-blocking and persistent.
   Tests call form_gather() where they mean MPI_Gather, MPI_Igather or MPI_Gather_init, and are run once for
   each form. What belongs to a call is changed or freed as soon as the standard allows it. */
#ifndef CLUMP_TESTS_FORMS_H
#define CLUMP_TESTS_FORMS_H

#include "check.h"

enum form { kBlocking, kNonblocking, kPersistent, kForms };
static enum form form;

/* Completes what an MPI_I... or MPI_..._init call has begun. A persistent operation is started twice, unless
   the first time may have changed its operands. */
static inline int form_complete(int code, MPI_Request* request, int once) {
  if (code != MPI_SUCCESS) return code;
  if (form == kNonblocking) return MPI_Wait(request, MPI_STATUS_IGNORE);
  for (int start = once ? 1 : 0; start < 2 && code == MPI_SUCCESS; ++start) {
    CHECK_OK(MPI_Start(request));
    code = MPI_Wait(request, MPI_STATUS_IGNORE);
  }
  CHECK_OK(MPI_Request_free(request));
  return code;
}

static inline int form_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Barrier(comm);
  return form_complete(
      form == kNonblocking ? MPI_Ibarrier(comm, &request) : MPI_Barrier_init(comm, MPI_INFO_NULL, &request),
      &request, 0);
}

static inline int form_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Bcast(buffer, count, type, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Ibcast(buffer, count, type, root, comm, &request)
                       : MPI_Bcast_init(buffer, count, type, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                              MPI_Datatype out_type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Gather(in, in_count, in_type, out, out_count, out_type, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Igather(in, in_count, in_type, out, out_count, out_type, root, comm, &request)
                       : MPI_Gather_init(in, in_count, in_type, out, out_count, out_type, root, comm,
                                         MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_gatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                               const int counts[], const int displs[], MPI_Datatype out_type, int root,
                               MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Gatherv(in, in_count, in_type, out, counts, displs, out_type, root, comm);
  const int code = form == kNonblocking ? MPI_Igatherv(in, in_count, in_type, out, counts, displs, out_type,
                                                       root, comm, &request)
                                        : MPI_Gatherv_init(in, in_count, in_type, out, counts, displs,
                                                           out_type, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                               MPI_Datatype out_type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Scatter(in, in_count, in_type, out, out_count, out_type, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Iscatter(in, in_count, in_type, out, out_count, out_type, root, comm, &request)
                       : MPI_Scatter_init(in, in_count, in_type, out, out_count, out_type, root, comm,
                                          MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_scatterv(const void* in, const int counts[], const int displs[], MPI_Datatype in_type,
                                void* out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking)
    return MPI_Scatterv(in, counts, displs, in_type, out, out_count, out_type, root, comm);
  const int code = form == kNonblocking ? MPI_Iscatterv(in, counts, displs, in_type, out, out_count, out_type,
                                                        root, comm, &request)
                                        : MPI_Scatterv_init(in, counts, displs, in_type, out, out_count,
                                                            out_type, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                                 MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
  const int code = form == kNonblocking
                       ? MPI_Iallgather(in, in_count, in_type, out, out_count, out_type, comm, &request)
                       : MPI_Allgather_init(in, in_count, in_type, out, out_count, out_type, comm,
                                            MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_allgatherv(const void* in, int in_count, MPI_Datatype in_type, void* out,
                                  const int counts[], const int displs[], MPI_Datatype out_type,
                                  MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Allgatherv(in, in_count, in_type, out, counts, displs, out_type, comm);
  const int code = form == kNonblocking
                       ? MPI_Iallgatherv(in, in_count, in_type, out, counts, displs, out_type, comm, &request)
                       : MPI_Allgatherv_init(in, in_count, in_type, out, counts, displs, out_type, comm,
                                             MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                                MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Alltoall(in, in_count, in_type, out, out_count, out_type, comm);
  const int code =
      form == kNonblocking
          ? MPI_Ialltoall(in, in_count, in_type, out, out_count, out_type, comm, &request)
          : MPI_Alltoall_init(in, in_count, in_type, out, out_count, out_type, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_alltoallv(const void* in, const int in_counts[], const int in_displs[],
                                 MPI_Datatype in_type, void* out, const int out_counts[],
                                 const int out_displs[], MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking)
    return MPI_Alltoallv(in, in_counts, in_displs, in_type, out, out_counts, out_displs, out_type, comm);
  const int code = form == kNonblocking
                       ? MPI_Ialltoallv(in, in_counts, in_displs, in_type, out, out_counts, out_displs,
                                        out_type, comm, &request)
                       : MPI_Alltoallv_init(in, in_counts, in_displs, in_type, out, out_counts, out_displs,
                                            out_type, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_alltoallw(const void* in, const int in_counts[], const int in_displs[],
                                 const MPI_Datatype in_types[], void* out, const int out_counts[],
                                 const int out_displs[], const MPI_Datatype out_types[], MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking)
    return MPI_Alltoallw(in, in_counts, in_displs, in_types, out, out_counts, out_displs, out_types, comm);
  const int code = form == kNonblocking
                       ? MPI_Ialltoallw(in, in_counts, in_displs, in_types, out, out_counts, out_displs,
                                        out_types, comm, &request)
                       : MPI_Alltoallw_init(in, in_counts, in_displs, in_types, out, out_counts, out_displs,
                                            out_types, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root,
                              MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Reduce(in, out, count, type, op, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Ireduce(in, out, count, type, op, root, comm, &request)
                       : MPI_Reduce_init(in, out, count, type, op, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 1);
}

static inline int form_allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Allreduce(in, out, count, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Iallreduce(in, out, count, type, op, comm, &request)
                       : MPI_Allreduce_init(in, out, count, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_reduce_scatter(const void* in, void* out, const int counts[], MPI_Datatype type,
                                      MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Reduce_scatter(in, out, counts, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Ireduce_scatter(in, out, counts, type, op, comm, &request)
                       : MPI_Reduce_scatter_init(in, out, counts, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_reduce_scatter_block(const void* in, void* out, int count, MPI_Datatype type,
                                            MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Reduce_scatter_block(in, out, count, type, op, comm);
  const int code = form == kNonblocking ? MPI_Ireduce_scatter_block(in, out, count, type, op, comm, &request)
                                        : MPI_Reduce_scatter_block_init(in, out, count, type, op, comm,
                                                                        MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Scan(in, out, count, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Iscan(in, out, count, type, op, comm, &request)
                       : MPI_Scan_init(in, out, count, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_exscan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Exscan(in, out, count, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Iexscan(in, out, count, type, op, comm, &request)
                       : MPI_Exscan_init(in, out, count, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

#endif
