#include "fiber/identity.h"

namespace clump::fiber::detail {

constinit thread_local Identity* current_identity = nullptr;
Identity* default_identity = nullptr;

}  // namespace clump::fiber::detail
