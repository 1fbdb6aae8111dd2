// The windows of all ranks of this process, for debuggers (base/fact.h): tools/gdb/clump_gdb/windows.py is
// the other side.
#pragma once

#include <vector>

#include "base/fact.h"

namespace clump::rma {

class Window;

/// A list of all windows. Any thread.
class AllWindows {
 public:
  static void add(Window& window);
  static void remove(Window& window);
  /// Where the list is, and where its members have what a debugger tells of them.
  static std::vector<base::Fact> facts();
};

}  // namespace clump::rma
