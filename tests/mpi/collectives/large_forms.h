/* The collectives with large counts, each in its three forms, as forms.h has the others. */
#ifndef CLUMP_TESTS_LARGE_FORMS_H
#define CLUMP_TESTS_LARGE_FORMS_H

#include "forms.h"

static inline int form_bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Bcast_c(buffer, count, type, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Ibcast_c(buffer, count, type, root, comm, &request)
                       : MPI_Bcast_init_c(buffer, count, type, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_gather_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                                MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Gather_c(in, in_count, in_type, out, out_count, out_type, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Igather_c(in, in_count, in_type, out, out_count, out_type, root, comm, &request)
                       : MPI_Gather_init_c(in, in_count, in_type, out, out_count, out_type, root, comm,
                                           MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_gatherv_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                                 const MPI_Count counts[], const MPI_Aint displs[], MPI_Datatype out_type,
                                 int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking)
    return MPI_Gatherv_c(in, in_count, in_type, out, counts, displs, out_type, root, comm);
  const int code = form == kNonblocking ? MPI_Igatherv_c(in, in_count, in_type, out, counts, displs, out_type,
                                                         root, comm, &request)
                                        : MPI_Gatherv_init_c(in, in_count, in_type, out, counts, displs,
                                                             out_type, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_scatter_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                                 MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Scatter_c(in, in_count, in_type, out, out_count, out_type, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Iscatter_c(in, in_count, in_type, out, out_count, out_type, root, comm, &request)
                       : MPI_Scatter_init_c(in, in_count, in_type, out, out_count, out_type, root, comm,
                                            MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_scatterv_c(const void* in, const MPI_Count counts[], const MPI_Aint displs[],
                                  MPI_Datatype in_type, void* out, MPI_Count out_count, MPI_Datatype out_type,
                                  int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking)
    return MPI_Scatterv_c(in, counts, displs, in_type, out, out_count, out_type, root, comm);
  const int code = form == kNonblocking ? MPI_Iscatterv_c(in, counts, displs, in_type, out, out_count,
                                                          out_type, root, comm, &request)
                                        : MPI_Scatterv_init_c(in, counts, displs, in_type, out, out_count,
                                                              out_type, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_allgather_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                                   MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Allgather_c(in, in_count, in_type, out, out_count, out_type, comm);
  const int code = form == kNonblocking
                       ? MPI_Iallgather_c(in, in_count, in_type, out, out_count, out_type, comm, &request)
                       : MPI_Allgather_init_c(in, in_count, in_type, out, out_count, out_type, comm,
                                              MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_allgatherv_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                                    const MPI_Count counts[], const MPI_Aint displs[], MPI_Datatype out_type,
                                    MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Allgatherv_c(in, in_count, in_type, out, counts, displs, out_type, comm);
  const int code = form == kNonblocking ? MPI_Iallgatherv_c(in, in_count, in_type, out, counts, displs,
                                                            out_type, comm, &request)
                                        : MPI_Allgatherv_init_c(in, in_count, in_type, out, counts, displs,
                                                                out_type, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 0);
}

static inline int form_alltoall_c(const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                                  MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Alltoall_c(in, in_count, in_type, out, out_count, out_type, comm);
  const int code = form == kNonblocking
                       ? MPI_Ialltoall_c(in, in_count, in_type, out, out_count, out_type, comm, &request)
                       : MPI_Alltoall_init_c(in, in_count, in_type, out, out_count, out_type, comm,
                                             MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_alltoallv_c(const void* in, const MPI_Count in_counts[], const MPI_Aint in_displs[],
                                   MPI_Datatype in_type, void* out, const MPI_Count out_counts[],
                                   const MPI_Aint out_displs[], MPI_Datatype out_type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking)
    return MPI_Alltoallv_c(in, in_counts, in_displs, in_type, out, out_counts, out_displs, out_type, comm);
  const int code = form == kNonblocking
                       ? MPI_Ialltoallv_c(in, in_counts, in_displs, in_type, out, out_counts, out_displs,
                                          out_type, comm, &request)
                       : MPI_Alltoallv_init_c(in, in_counts, in_displs, in_type, out, out_counts, out_displs,
                                              out_type, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_alltoallw_c(const void* in, const MPI_Count in_counts[], const MPI_Aint in_displs[],
                                   const MPI_Datatype in_types[], void* out, const MPI_Count out_counts[],
                                   const MPI_Aint out_displs[], const MPI_Datatype out_types[],
                                   MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking)
    return MPI_Alltoallw_c(in, in_counts, in_displs, in_types, out, out_counts, out_displs, out_types, comm);
  const int code = form == kNonblocking
                       ? MPI_Ialltoallw_c(in, in_counts, in_displs, in_types, out, out_counts, out_displs,
                                          out_types, comm, &request)
                       : MPI_Alltoallw_init_c(in, in_counts, in_displs, in_types, out, out_counts, out_displs,
                                              out_types, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_reduce_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                int root, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Reduce_c(in, out, count, type, op, root, comm);
  const int code = form == kNonblocking
                       ? MPI_Ireduce_c(in, out, count, type, op, root, comm, &request)
                       : MPI_Reduce_init_c(in, out, count, type, op, root, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, 1);
}

static inline int form_allreduce_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Allreduce_c(in, out, count, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Iallreduce_c(in, out, count, type, op, comm, &request)
                       : MPI_Allreduce_init_c(in, out, count, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_reduce_scatter_c(const void* in, void* out, const MPI_Count counts[],
                                        MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Reduce_scatter_c(in, out, counts, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Ireduce_scatter_c(in, out, counts, type, op, comm, &request)
                       : MPI_Reduce_scatter_init_c(in, out, counts, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_reduce_scatter_block_c(const void* in, void* out, MPI_Count count, MPI_Datatype type,
                                              MPI_Op op, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Reduce_scatter_block_c(in, out, count, type, op, comm);
  const int code =
      form == kNonblocking
          ? MPI_Ireduce_scatter_block_c(in, out, count, type, op, comm, &request)
          : MPI_Reduce_scatter_block_init_c(in, out, count, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_scan_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Scan_c(in, out, count, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Iscan_c(in, out, count, type, op, comm, &request)
                       : MPI_Scan_init_c(in, out, count, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

static inline int form_exscan_c(const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == kBlocking) return MPI_Exscan_c(in, out, count, type, op, comm);
  const int code = form == kNonblocking
                       ? MPI_Iexscan_c(in, out, count, type, op, comm, &request)
                       : MPI_Exscan_init_c(in, out, count, type, op, comm, MPI_INFO_NULL, &request);
  return form_complete(code, &request, in == MPI_IN_PLACE);
}

#endif
