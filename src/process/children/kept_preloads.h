// LD_PRELOAD of the programs that a process executes before it is a rank. Such a process may be a wrapper (a
// shell, env, a debugger) of the program that will be the rank, and may give that program an LD_PRELOAD of
// its own, or none. Clump's libraries stay in it: otherwise ld.so would find functions of the C library
// before those of libclump_host.so.
//
// Async-signal-safe, as execve() is, but for keep_preloads().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clump::image {

struct KeptPreloads {
  std::string_view variable;  ///< "NAME=": the program will be a rank if its environment has this one
  std::string front;          ///< libraries before those that the wrapper asks for, each followed by a colon
  std::string library;        ///< the one that tells whether all are there
  std::string back;           ///< libraries behind those that the wrapper asks for; the first is `library`
};

/// Sets what is kept. Once, before there are other threads.
void keep_preloads(KeptPreloads kept);

/// The bytes that environment_for_rank() writes; 0: it would change nothing.
std::size_t room_for_rank(char* const* environment) noexcept;
/// `environment` with an LD_PRELOAD that has all libraries. It is written to `room`, which has
/// room_for_rank(environment) bytes, aligned for pointers; the other variables stay where they are.
char* const* environment_for_rank(char* const* environment, void* room) noexcept;

}  // namespace clump::image
