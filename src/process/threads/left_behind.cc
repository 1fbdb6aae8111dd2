#include "process/threads/left_behind.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/rank_image.h"
#include "process/libc/exit.h"
#include "process/rank_state.h"

namespace clump::image::left_behind {

constinit std::atomic<bool> any{false};

bool begin(Image& image) {
  if (!captured() || !in_host_process()) return false;
  pthread_t none{};
  // release: pairs with acquire in stay()
  image.state().exit.ended_by.compare_exchange_strong(none, ::pthread_self(), std::memory_order_release);
  // acquire: pairs with thread_of_rank_ends()
  if (image.threads.load(std::memory_order_acquire) <= 1) return false;
  any.store(true, std::memory_order_relaxed);
  return true;
}

void stay() {
  const fiber::Identity* const mine = fiber::identity();
  if (mine == nullptr || !captured() || !in_host_process()) return;
  const pthread_t ended_by = image_of(mine).state().exit.ended_by.load(std::memory_order_acquire);
  if (ended_by == pthread_t{} || ::pthread_equal(ended_by, ::pthread_self())) return;
  while (true) ::syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

void act_for(Image& image) { image.state().exit.ended_by.store(::pthread_self(), std::memory_order_release); }

}  // namespace clump::image::left_behind
