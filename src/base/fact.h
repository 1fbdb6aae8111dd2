// What a debugger has to know of our memory to find ranks, their stacks and their copies of the program:
// addresses, and where members lie in objects. Each layer describes its own; libclump_host.so puts all into
// one table (host/debugger.cc), which tools/gdb reads. So nothing has to be written down while a
// program runs, and it works where libraries are stripped.
#pragma once

#include <cstdint>

namespace clump::base {

struct Fact {
  const char* name = nullptr;
  std::uint64_t value = 0;
};

}  // namespace clump::base
