// Refuses calls that would change what all ranks of a process have, when a rank makes one.
#pragma once

#include <string>
#include <string_view>

#include "fiber/identity.h"

namespace clump::image {

/// Ends the job with a message; set by the runtime. Must not return.
using RefusalHook = void (*)(fiber::Identity* rank, std::string text);
void set_refusal_hook(RefusalHook hook);

/// Ends the job because the calling rank has made `call`, which cannot take effect for one rank alone, and on
/// which the rank would rely afterwards. `why` continues the sentence that begins with `call`: "changes the
/// kernel thread that runs the rank".
[[noreturn]] void refuse(std::string_view call, std::string_view why);

}  // namespace clump::image
