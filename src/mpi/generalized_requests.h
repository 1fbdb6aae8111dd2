// Generalised requests (MPI-5.0 section 13.2): operations of the user's own, which MPI_Wait and MPI_Test
// complete like others.
#pragma once

#include <cstdint>

#include "core/rank.h"
#include "core/request.h"

namespace clump::mpi {

/// The user's functions are called by the thread that calls MPI.
class GeneralizedRequest final : public core::Request {
 public:
  struct Functions {
    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* free;
    MPI_Grequest_cancel_function* cancel;
    void* extra_state;
  };
  explicit GeneralizedRequest(const Functions& functions)
      : Request(Kind::kGeneralized), functions_(functions) {}

  /// Asks the user for the result of the complete operation. Unless it is kept, the user frees what belongs
  /// to it. If both of the user's functions fail, the error is that of the last one.
  void ask(bool keep) override;
  base::Status cancel() override;

  // MPI_Grequest_complete and MPI_Request_free, whichever comes first. After both the request is gone; until
  // then it stays in the table of its rank, because the user needs the handle for MPI_Grequest_complete.
  base::Status end(core::Rank& self);
  base::Status forget(core::Rank& self);

 private:
  base::Status free(core::Rank& self);
  const Functions functions_;
};

/// How often ranks of this process have called MPI_Grequest_complete. Any thread.
std::uint64_t completed_generalized_requests() noexcept;

}  // namespace clump::mpi
