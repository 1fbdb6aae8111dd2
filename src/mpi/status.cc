// Reading and writing statuses (MPI-5.0 sections 3.2.5 and 13.3); how many elements a message had is told in
// datatype_queries.cc.
#include "core/rank.h"
#include "core/request.h"
#include "mpi/bodies.h"

namespace clump::mpi {

using base::Status;
using core::Rank;

Status status_get_source(Rank&, const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return {};
}

Status status_get_tag(Rank&, const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return {};
}

Status status_get_error(Rank&, const MPI_Status* status, int* err) {
  *err = status->MPI_ERROR;
  return {};
}

Status status_set_source(Rank&, MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return {};
}

Status status_set_tag(Rank&, MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return {};
}

Status status_set_error(Rank&, MPI_Status* status, int err) {
  status->MPI_ERROR = err;
  return {};
}

Status status_set_cancelled(Rank&, MPI_Status* status, int flag) {
  core::set_cancelled(*status, flag != 0);
  return {};
}

Status test_cancelled(Rank&, const MPI_Status* status, int* flag) {
  *flag = core::is_cancelled(*status) ? 1 : 0;
  return {};
}

}  // namespace clump::mpi
