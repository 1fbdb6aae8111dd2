// What a rank waits for in a call about a window, for reports.
#pragma once

#include <string>

namespace clump::rma {

struct AwaitedOfWindow {
  std::string what;   ///< "the lock of rank 2 of window 'table'"
  int peer = -1;      ///< the rank of the job that has it, or has to make the call; negative: several
  bool holds = true;  ///< that rank has it; false: it has to make the call
};

/// A base of requests that such calls wait for.
class WaitForWindow {
 public:
  virtual AwaitedOfWindow awaited_of_window() const = 0;

 protected:
  ~WaitForWindow() = default;
};

}  // namespace clump::rma
