#include "fiber/context.h"

#include <sys/auxv.h>

namespace clump::fiber {

void prepare_contexts() {
#if defined(__x86_64__)
  constexpr unsigned long kFsgsbase = 1 << 1;  // HWCAP2_FSGSBASE: the kernel keeps what user code writes
  clump_has_fsgsbase = (::getauxval(AT_HWCAP2) & kFsgsbase) != 0;
#endif
}

}  // namespace clump::fiber
