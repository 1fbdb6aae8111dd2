#include "fiber/context.h"

#include <sys/auxv.h>

#include "fiber/float_flags.h"

namespace clump::fiber {

constinit char clump_keeps_float_flags = 0;

// relaxed: a switch that does not see it yet suspends with no flags, which is right at any time.
void keep_float_flags() { __atomic_store_n(&clump_keeps_float_flags, char{1}, __ATOMIC_RELAXED); }

void prepare_contexts() {
#if defined(__x86_64__)
  constexpr unsigned long kFsgsbase = 1 << 1;  // HWCAP2_FSGSBASE: the kernel keeps what user code writes
  clump_has_fsgsbase = (::getauxval(AT_HWCAP2) & kFsgsbase) != 0;
#endif
}

}  // namespace clump::fiber
