#include "process/children/fork_handlers.h"

#include <cerrno>
#include <mutex>
#include <vector>

#include "base/types.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image::fork_handlers {

namespace {
struct ForkState {
  struct Handler {
    void (*prepare)() = nullptr;
    void (*in_parent)() = nullptr;
    void (*in_child)() = nullptr;
    void* object = nullptr;  ///< the __dso_handle of the object that has registered it
  };
  RankMutex lock;
  std::vector<Handler> handlers;  ///< oldest first
};

constinit PerRank<ForkState> kept;
using Handlers = std::vector<ForkState::Handler>;
}  // namespace

struct AroundFork::State {
  Handlers handlers;  ///< copied: fork() in another thread may run them at the same time
};

AroundFork::AroundFork() {
  if (!captured()) return;
  ForkState* const mine = kept.made_of();
  if (mine == nullptr) return;
  {
    const std::scoped_lock lock(mine->lock);
    if (mine->handlers.empty()) return;
    state_ = new State{mine->handlers};
  }
  for (auto handler = state_->handlers.rbegin(); handler != state_->handlers.rend(); ++handler)
    if (handler->prepare != nullptr) handler->prepare();
}

void AroundFork::after(int child) {
  if (state_ == nullptr) return;
  const int error = errno;
  for (const ForkState::Handler& handler : state_->handlers)
    if (void (*const function)() = child == 0 ? handler.in_child : handler.in_parent) function();
  delete state_;
  state_ = nullptr;
  errno = error;
}

void forget(Image& image, const void* object) {
  ForkState* const mine = kept.made_of(image);
  if (mine == nullptr) return;
  const std::scoped_lock lock(mine->lock);
  std::erase_if(mine->handlers, [&](const ForkState::Handler& handler) { return handler.object == object; });
}

}  // namespace clump::image::fork_handlers

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

// Programs get pthread_atfork() from a part of the C library that is linked into them and calls this
// function.
CLUMP_HOST_API int __register_atfork(void (*prepare)(), void (*in_parent)(), void (*in_child)(),
                                     void* object) noexcept {
  static constinit Hidden<int(void (*)(), void (*)(), void (*)(), void*)> real{"__register_atfork"};
  Image* const image = image_at(object);
  if (image == nullptr) return real(prepare, in_parent, in_child, object);
  fork_handlers::ForkState& mine = fork_handlers::kept.of(*image);
  const std::scoped_lock lock(mine.lock);
  mine.handlers.push_back({prepare, in_parent, in_child, object});
  return 0;
}

}  // extern "C"
