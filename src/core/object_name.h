// The name of a communicator or a window (MPI-5.0 section 7.8).
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "mpi.h"

namespace clump::core {

/// A name that any thread of the rank may set while others read it, and reports do, too.
class ObjectName {
 public:
  /// Empty: the program has given none.
  std::string get() const {
    std::string copy;
    copy.reserve(kUsualRoom);  // so that nothing is allocated under the lock
    const std::lock_guard lock(mutex_);
    copy = name_;
    return copy;
  }
  void set(std::string name) {
    const std::lock_guard lock(mutex_);
    name_.swap(name);  // the old one is freed by the argument, after the lock
  }

 private:
  static constexpr std::size_t kUsualRoom = MPI_MAX_OBJECT_NAME + 64;
  std::string name_;  // first: debuggers read it (rma/facts.h)
  mutable base::ShortMutex mutex_;
};

}  // namespace clump::core
