// For unit tests of this folder: operations that do not block, of teams.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "coll/shared/request.h"

namespace clump::coll {

using Operation = std::unique_ptr<TeamRequest>;

/// An operation that has been begun.
inline Operation begun(core::Comm& comm, const Call& call) {
  Operation operation = TeamRequest::make(comm, call, CollectiveRequest::Kind::kNonblocking);
  EXPECT_NE(operation, nullptr);
  operation->begin();
  return operation;
}

inline base::Status end(TeamRequest& operation) {
  operation.wait();
  return base::Status::from_code(operation.result.error);
}

}  // namespace clump::coll
