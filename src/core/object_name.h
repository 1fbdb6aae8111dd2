// The name of a communicator or a window (MPI-5.0 section 7.8).
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace clump::core {

/// A name that any thread of the rank may set while others read it; reports read it, too.
class ObjectName {
 public:
  /// Empty: the program has given none.
  std::string get() const {
    const std::lock_guard lock(mutex_);
    return name_;
  }
  void set(std::string name) {
    const std::lock_guard lock(mutex_);
    name_.swap(name);  // the old one is freed by the argument, after the lock
  }

 private:
  std::string name_;  // the only member: debuggers read it (rma/facts.h)
  // Names change so rarely that all share one lock.
  static inline std::mutex mutex_;
};

}  // namespace clump::core
