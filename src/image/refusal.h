// Calls that would change what all ranks of a process have, noticed when a rank makes one.
#pragma once

#include <string>
#include <string_view>

#include "fiber/identity.h"

namespace clump::image {

/// Ends the job with a message; set by the runtime. Must not return.
using RefusalHook = void (*)(fiber::Identity* rank, std::string text);
void set_refusal_hook(RefusalHook hook);

/// The calling rank has made `call`, which, as the end of a sentence, `why` it cannot be given to it alone.
/// Ends the job: what the rank does next would rely on it.
[[noreturn]] void refuse(std::string_view call, std::string_view why);

}  // namespace clump::image
