// The functions that libclump_host.so stands in for, and how an allocator's start-up can call each without
// harm: one row each, in the tables of calls_*.cc. What is a name of another one (aliases.txt) needs none.
#pragma once

#include <cstddef>
#include <span>

namespace calls {

struct Row {
  const char* name;
  void (*call)();             ///< null: it is not called
  const char* why = nullptr;  ///< it is not
};

std::span<const Row> of_files();
std::span<const Row> of_makers();
std::span<const Row> of_processes();
std::span<const Row> of_signals();
std::span<const Row> of_state();
std::span<const Row> of_threads();

constexpr const char* kAllocates = "allocates in the C library";
constexpr const char* kEnds = "ends or replaces the process";
constexpr const char* kFile = "needs a stream, whose making allocates";
constexpr const char* kReads = "takes standard input";
constexpr const char* kSame = "is another name of one that is called";
constexpr const char* kStarts = "starts a process";
constexpr const char* kNew = "is not in every C library that we know";
constexpr const char* kWaits = "waits";

constexpr int kNone = -1;  ///< no descriptor
constexpr const char* kNoFile = "/no/such/file";

}  // namespace calls
