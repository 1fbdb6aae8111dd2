// For unit tests of this folder: operations that do not block, of teams.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "coll/shared/request.h"

namespace clump::coll {

using Operation = std::unique_ptr<TeamRequest>;

/// An operation that has been begun.
template <typename Say>
Operation begun(core::Comm& comm, const Reduction& reduction, Say say) {
  RequestBuilder proposal(comm, reduction, CollectiveRequest::Kind::kNonblocking);
  EXPECT_TRUE(say(proposal));
  Operation operation = proposal.take();
  operation->begin();
  return operation;
}
template <typename Say>
Operation begun(core::Comm& comm, Say say) {
  return begun(comm, {}, say);
}

inline base::Status end(TeamRequest& operation) {
  operation.wait();
  return base::Status::from_code(operation.result.error);
}

}  // namespace clump::coll
