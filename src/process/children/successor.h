// exec() by a rank. The process does not belong to the rank alone, so the new program gets a process of its
// own, the rank's successor, and runs in the rank's name. The rank waits for it, passes on its output if
// lines have to be distinguished, and ends as the successor ends.
#pragma once

#include <string>
#include <vector>

#include "fiber/identity.h"

namespace clump::image {

/// What the runtime gives to a successor.
struct Passport {
  std::vector<std::string> variables;  ///< "NAME=value"; they replace variables of the same names
  std::vector<int> descriptors;        ///< descriptors that stay open in it
};

/// The runtime's part. All functions are called on the thread that has called exec().
struct SuccessorHooks {
  /// Called before the rank is replaced by a program that gets this environment.
  Passport (*prepare)(const fiber::Identity& rank, char* const* environment);
  /// Called after the successor was started.
  void (*started)(const fiber::Identity& rank);
  /// Called when the successor has ended, with its status of waitpid(). Must not return.
  void (*ended)(const fiber::Identity& rank, int status);
};
/// Sets the hooks. Once, before any rank has begun. `hooks` lives as long as the process.
void set_successor_hooks(const SuccessorHooks& hooks);

/// Does what execve() does, for a rank with an image: returns -1 with errno if the program cannot be started;
/// otherwise does not return.
int replace_rank(const char* path, char* const* arguments, char* const* environment);

}  // namespace clump::image
