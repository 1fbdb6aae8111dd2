// Threads that a rank makes belong to it: they take its identity, and their thread-local variables point into
// its image.
#include <pthread.h>
#include <threads.h>

#include <memory>
#include <new>

#include "base/types.h"
#include "fiber/completion.h"
#include "fiber/identity.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

struct Start {
  void* (*function)(void*);
  int (*c11_function)(void*);
  void* argument;
  fiber::Identity* identity;
};

void* run_thread(void* argument) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(argument));
  const Start start = *owned;
  // Also where the thread ends by pthread_exit() or is cancelled: that unwinds its stack.
  const struct Counted {
    bool of_a_rank;
    ~Counted() {
      if (of_a_rank) fiber::thread_ends();
    }
  } counted{start.identity != nullptr};
  if (start.identity != nullptr) {
    fiber::adopt_identity(start.identity);
    if (captured()) image_of(start.identity).relocate_thread();
  }
  if (start.function != nullptr) return start.function(start.argument);
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start.c11_function(start.argument)));
}

int create_thread(pthread_t* thread, const pthread_attr_t* attributes, const Start& start) {
  static constinit Hidden<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real{
      "pthread_create"};
  auto* copy = new (std::nothrow) Start(start);
  if (copy == nullptr) return EAGAIN;
  if (start.identity != nullptr) fiber::thread_begins();
  const int error = real(thread, attributes, &run_thread, static_cast<void*>(copy));
  if (error == 0) return 0;
  if (start.identity != nullptr) fiber::thread_ends();
  delete copy;
  return error;
}

}  // namespace
}  // namespace clump::image

using clump::image::create_thread;

extern "C" {

CLUMP_HOST_API int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                  void* (*function)(void*), void* argument) {
  return create_thread(thread, attributes, {function, nullptr, argument, clump::fiber::identity()});
}

// The C library's own thrd_create does not pass through pthread_create.
CLUMP_HOST_API int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  switch (create_thread(thread, nullptr, {nullptr, function, argument, clump::fiber::identity()})) {
    case 0:
      return thrd_success;
    case ENOMEM:
    case EAGAIN:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

}  // extern "C"
