// What the host processes of this node answer when they are asked what their ranks wait for.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "pmi/waits.h"

namespace clump::mpiexec {

/// The answers to one question; those to earlier ones are dropped.
class Inquiry {
 public:
  /// A new one: its number. 0 is what a process tells without being asked.
  std::uint32_t begin() {
    answers_.clear();
    complete_ = 0;
    return ++question_;
  }
  void take(const pmi::AccountNote& note);
  /// How many processes have answered.
  int complete() const { return complete_; }
  /// All that was told.
  pmi::Account account() const;

 private:
  std::uint32_t question_ = 0;
  int complete_ = 0;
  std::map<std::int32_t, std::string> answers_;  // by process; encoded
};

}  // namespace clump::mpiexec
