#include "process/refusal.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>

namespace clump::image {

namespace {
constinit std::atomic<RefusalHook> refusal_hook{nullptr};
}  // namespace

void set_refusal_hook(RefusalHook hook) { refusal_hook.store(hook, std::memory_order_relaxed); }

void refuse(std::string_view call, std::string_view why) {
  if (const RefusalHook hook = refusal_hook.load(std::memory_order_relaxed))
    hook(fiber::identity(),
         fmt::format("{} {}, which it shares with other ranks: run it with --ranks processes", call, why));
  std::abort();
}

}  // namespace clump::image
