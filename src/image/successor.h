// exec() by a rank. The process is not the rank's alone, so the new program gets a process of its own, its
// successor, and runs in the rank's name: the rank waits for it, passes on what it writes where lines have to
// be told apart, and ends as it ends.
#pragma once

#include <string>
#include <vector>

#include "fiber/identity.h"

namespace clump::image {

/// What the runtime gives to a successor.
struct Passport {
  std::vector<std::string> variables;  ///< "NAME=value", instead of those of the same names
  std::vector<int> descriptors;        ///< that stay open in it
};

/// The runtime's part. All are called on the thread that has called exec().
struct SuccessorHooks {
  /// The rank may be replaced, by a program that gets this environment.
  Passport (*prepare)(const fiber::Identity& rank, char* const* environment);
  /// It has been.
  void (*started)(const fiber::Identity& rank);
  /// The successor has ended, with this status of waitpid(). Must not return.
  void (*ended)(const fiber::Identity& rank, int status);
};
/// Once, before any rank has begun. `hooks` lives as long as the process.
void set_successor_hooks(const SuccessorHooks& hooks);

/// What execve() does, for a rank with an image: -1 with errno if the program cannot be started; otherwise
/// does not return.
int replace_rank(const char* path, char* const* arguments, char* const* environment);

}  // namespace clump::image
