#include "fiber/context.h"

#include <sys/auxv.h>

#include "fiber/float_flags.h"

namespace clump::fiber {

constinit char clump_keeps_float_flags = 0;

void keep_float_flags() { clump_keeps_float_flags = 1; }

void prepare_contexts() {
#if defined(__x86_64__)
  constexpr unsigned long kFsgsbase = 1 << 1;  // HWCAP2_FSGSBASE: the kernel keeps what user code writes
  clump_has_fsgsbase = (::getauxval(AT_HWCAP2) & kFsgsbase) != 0;
#endif
}

}  // namespace clump::fiber
