#include "fiber/identity.h"

namespace clump::fiber::detail {

thread_local Identity* current_identity = nullptr;
Identity* default_identity = nullptr;

}  // namespace clump::fiber::detail
