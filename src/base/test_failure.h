// For unit tests of all layers: a Status as its error class and its message.
//
//   EXPECT_EQ(failure(send_tag({"tag", -1})), (Failure{MPI_ERR_TAG, "(tag = -1): tags are from ..."}));
#pragma once

#include <ostream>
#include <string>

#include "base/status.h"

namespace clump::base {

struct Failure {
  int error_class = MPI_SUCCESS;
  std::string text;

  friend bool operator==(const Failure&, const Failure&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Failure& failure) {
    const char* const name = name_of_class(failure.error_class);
    return out << (name != nullptr ? name : "no class of the standard") << ": " << failure.text;
  }
};

inline Failure failure(Status status) { return {status.error_class(), message_of(status.code())}; }

/// What failure() returns for a call that has not failed.
inline const Failure kNoFailure{};

}  // namespace clump::base
