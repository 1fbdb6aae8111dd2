#include "process/threads/thread_exit.h"

#include <pthread.h>

// What pthread_cleanup_push() and pthread_cleanup_pop() are made of in C. <pthread.h> declares these only
// where there are no exceptions; in C++ the macros are an object with a destructor.
extern "C" {
[[gnu::returns_twice]] int mark_place(__cancel_jmp_buf_tag* place, int with_mask) noexcept asm("__sigsetjmp");
void __pthread_register_cancel(__pthread_unwind_buf_t* place);
void __pthread_unregister_cancel(__pthread_unwind_buf_t* place);
[[noreturn]] void __pthread_unwind_next(__pthread_unwind_buf_t* place);
}

namespace clump::image {

void run_then_end(void (*body)(void*), void (*end)(void*), void* argument) {
  __pthread_unwind_buf_t place;
  if (mark_place(place.__cancel_jmp_buf, 0) != 0) {
    end(argument);
    __pthread_unwind_next(&place);
  }
  __pthread_register_cancel(&place);
  body(argument);
  // With PTHREAD_CANCEL_ASYNCHRONOUS the thread might be cancelled anywhere in `end`.
  int cancellation = PTHREAD_CANCEL_ENABLE;
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
  __pthread_unregister_cancel(&place);
  end(argument);
  ::pthread_setcancelstate(cancellation, nullptr);
}

}  // namespace clump::image
