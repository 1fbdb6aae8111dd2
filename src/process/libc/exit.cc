// exit() and the related functions, for each rank: a rank's handlers run when the rank leaves; the runtime
// decides what that means for the process. Handlers of shared libraries stay with the C library: they run
// when the process ends.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/process.h"
#include "base/types.h"
#include "image/lifetime.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/fork_handlers.h"
#include "process/files/fdopen.h"
#include "process/files/output.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/files/streams.h"
#include "process/libc/exit.h"
#include "process/rank_state.h"
#include "process/signals/timer.h"
#include "process/threads/left_behind.h"

namespace clump::image {
namespace {

using Handler = ExitState::Handler;
using Signature = ExitState::Signature;

std::atomic<ExitHook> exit_hook{nullptr};
std::atomic<pid_t> host_process{0};

/// False in a child of the process, in which fork() has left one thread and no runtime.
bool in_host() {
  return exit_hook.load(std::memory_order_acquire) !=
             nullptr &&  // acquire: pairs with release in set_exit_hook()
         in_host_process();
}

void call(const Handler& handler, int code) {
  switch (handler.signature) {
    case Signature::kPlain:
      handler.function();
      break;
    case Signature::kArgument:
      reinterpret_cast<void (*)(void*)>(handler.function)(handler.argument);
      break;
    case Signature::kStatusAndArgument:
      reinterpret_cast<void (*)(int, void*)>(handler.function)(code, handler.argument);
      break;
  }
}

/// Whether the handler was registered by the program, or by a plugin that it has opened.
bool is_of_program(const Image& image, const void* handle) {
  std::uintptr_t ignored = 0;
  const Object* object = original_of(handle, &ignored);
  if (object == nullptr || image.program == nullptr) return false;
  return object == image.program->main || (object->is_template && !image.program->has(*object));
}

int add_at_exit(Image& image, const Handler& handler) {
  ExitState& state = image.state().exit;
  const std::scoped_lock lock(state.lock);
  // The first handler of the program itself, or its main(), shows that its libraries are constructed. At that
  // point the C library registers their destruction, so they are destructed after all handlers that are
  // registered later, also by the libraries.
  if (!state.program_begun && is_of_program(image, handler.object)) {
    state.program_begun = true;
    state.of_libraries = state.at_exit.size();
  }
  state.at_exit.push_back(handler);
  return 0;
}

/// Runs handlers, the newest first, down to the first `keep`. A handler may add others, which are then the
/// newest, and may call exit().
void run_all(Image& image, std::vector<Handler> ExitState::*list, int code, const std::size_t& keep) {
  ExitState& state = image.state().exit;
  while (true) {
    Handler handler;
    {
      const std::scoped_lock lock(state.lock);
      if ((state.*list).size() <= keep) return;
      handler = (state.*list).back();
      (state.*list).pop_back();
    }
    call(handler, code);
  }
}

/// Runs the handlers that belong to one object, when it is unloaded or destructed.
void run_those_of(Image& image, const void* object) {
  ExitState& state = image.state().exit;
  while (true) {
    Handler handler;
    {
      const std::scoped_lock lock(state.lock);
      std::size_t i = state.at_exit.size();
      while (i > 0 && state.at_exit[i - 1].object != object) --i;
      if (i == 0) return;
      handler = state.at_exit[i - 1];
      state.at_exit.erase(state.at_exit.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      if (i <= state.of_libraries) --state.of_libraries;
    }
    call(handler, 0);
  }
}

/// A destructor of a thread_local object. The C library runs these when a thread ends. When a rank leaves,
/// those of the leaving thread run before the rank's exit handlers, as in exit(). So the list is kept here,
/// and the C library gets one destructor for each thread.
struct ThreadHandler {
  void (*function)(void*);
  void* argument;
  ThreadHandler* next;
};
thread_local ThreadHandler* thread_handlers = nullptr;
thread_local bool thread_registered = false;

void run_thread_handlers(void*) {
  while (thread_handlers != nullptr) {
    ThreadHandler* handler = std::exchange(thread_handlers, thread_handlers->next);
    const ThreadHandler copy = *handler;
    delete handler;
    copy.function(copy.argument);
  }
  thread_registered = false;
}

void call_exit_hook(Image& image, int code, ExitKind kind) {
  if (in_host())
    exit_hook.load(std::memory_order_acquire)(image.identity(), code, kind);  // acquire: see in_host()
}

[[noreturn]] void leave(Image& image, int code, ExitKind kind) {
  end_job_streams(image, kind == ExitKind::kExit);
  image.state().output.end();
  locks::release_all(image);
  signals::delete_timers_of(*image.identity());
  // The list has the streams of all ranks. What shared libraries have opened is flushed when the process
  // ends. relaxed: see note_that_caller_has_streams()
  if (kind == ExitKind::kExit && captured() &&
      image.state().standard.has_streams.load(std::memory_order_relaxed))
    (void)flush_streams(Streams::kAll, WhileBusy::kGoOn);
  owners::close_all(image, kind == ExitKind::kExit);
  standard::close_own(image);
  if (kind != ExitKind::kExit) image.state().exit.skipped_handlers = true;
  call_exit_hook(image, code, kind);
  switch (kind) {
    case ExitKind::kExit:
      end_process(code);
    case ExitKind::kQuickExit:
    case ExitKind::kImmediate:
      break;
  }
  exit_process(code);
}

// Without images the C library runs exit handlers. It runs these two after all others, also after destructors
// of libraries, because they are registered first.

void judge_exit(int code, void*) { call_exit_hook(current_image(), code, ExitKind::kExit); }

/// The code that quick_exit() was called with: the C library does not pass it to handlers.
constinit std::atomic<int> quick_exit_code{0};

void judge_quick_exit(void*) {
  call_exit_hook(current_image(), quick_exit_code.load(), ExitKind::kQuickExit);
}

/// Runs the destructors of all that the rank has of private objects, the last constructed first.
void run_rank_destructors(Image& image) {
  const std::scoped_lock lock(image.lock);
  while (!image.constructed.empty()) {
    const Object& object = *image.constructed.back();
    image.constructed.pop_back();
    destruct(image, object);
  }
}

}  // namespace

bool in_host_process() { return host_process.load(std::memory_order_relaxed) == base::process_id(); }

void claim_leaving(Image& image) {
  ExitState& state = image.state().exit;
  {
    const std::scoped_lock lock(state.lock);
    if (!state.leaving || pthread_equal(state.leaver, pthread_self())) {
      state.leaving = true;
      state.leaver = pthread_self();
      return;
    }
  }
  while (true) syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

void set_exit_hook(ExitHook hook) {
  host_process.store(base::process_id(), std::memory_order_relaxed);
  exit_hook.store(hook, std::memory_order_release);  // release: pairs with acquire in in_host()
}

void see_exit_of_process() {
  static constinit Hidden<int(void (*)(int, void*), void*)> at_exit{"on_exit"};
  static constinit Hidden<int(void (*)(void*), void*)> at_quick_exit{"__cxa_at_quick_exit"};
  (void)at_exit(judge_exit, static_cast<void*>(nullptr));
  (void)at_quick_exit(judge_quick_exit, static_cast<void*>(nullptr));
}

void exit_process(int code) {
  while (true) syscall(SYS_exit_group, code);
}

void end_process(int code) {
  static constinit Hidden<void(int)> real{"exit"};
  static constinit Hidden<int(FILE*)> flush{"fflush"};
  output::finish();
  // A child that fork() has made does not run the destructors of shared libraries, unless it is the native
  // rank's.
  if (captured() && !in_host_process() && !current_image().native()) {
    flush(nullptr);
    exit_process(code);
  }
  // What remains are the destructors of shared libraries; the last thread may belong to any rank.
  if (captured()) {
    left_behind::act_for(image_of(nullptr));
    fiber::adopt_identity(image_of(nullptr).identity());
  }
  // They would write what the native rank has left unwritten by _exit().
  if (captured() && image_of(nullptr).state().exit.skipped_handlers) exit_process(code);
  real(code);
  __builtin_unreachable();
}

void note_main_begins(const fiber::Identity& rank) {
  ExitState& state = image_of(&rank).state().exit;
  const std::scoped_lock lock(state.lock);
  if (state.program_begun) return;
  state.program_begun = true;
  state.of_libraries = state.at_exit.size();
}

void destruct_thread_locals() { run_thread_handlers(nullptr); }

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API void exit(int code) {
  static constinit Hidden<void(int)> real{"exit"};
  Image& image = current_image();
  claim_leaving(image);
  if (!captured()) {
    real(code);
    __builtin_unreachable();
  }
  run_thread_handlers(nullptr);
  ExitState& state = image.state().exit;
  if (!state.program_begun) state.of_libraries = state.at_exit.size();
  run_all(image, &ExitState::at_exit, code, state.of_libraries);
  run_rank_destructors(image);
  run_all(image, &ExitState::at_exit, code, 0);
  leave(image, code, ExitKind::kExit);
}

CLUMP_HOST_API void quick_exit(int code) {
  static constinit Hidden<void(int)> real{"quick_exit"};
  Image& image = current_image();
  claim_leaving(image);
  if (!captured()) {
    quick_exit_code.store(code);
    real(code);
    __builtin_unreachable();
  }
  run_all(image, &ExitState::at_quick_exit, code, 0);
  leave(image, code, ExitKind::kQuickExit);
}

CLUMP_HOST_API void _exit(int code) {
  if (!in_host()) exit_process(code);
  leave(current_image(), code, ExitKind::kImmediate);
}

CLUMP_HOST_API void _Exit(int code) { _exit(code); }

CLUMP_HOST_API int __cxa_atexit(void (*function)(void*), void* argument, void* object) {
  static constinit Hidden<int(void (*)(void*), void*, void*)> real{"__cxa_atexit"};
  Image* image = image_at(object);
  if (image == nullptr) return real(function, argument, object);
  return add_at_exit(*image,
                     {reinterpret_cast<void (*)()>(function), argument, object, Signature::kArgument});
}

// Programs get atexit() and at_quick_exit() from a part of the C library that is linked into them and calls
// these functions.
CLUMP_HOST_API int __cxa_at_quick_exit(void (*function)(void*), void* object) {
  static constinit Hidden<int(void (*)(void*), void*)> real{"__cxa_at_quick_exit"};
  Image* image = image_at(object);
  if (image == nullptr) return real(function, object);
  ExitState& state = image->state().exit;
  const std::scoped_lock lock(state.lock);
  state.at_quick_exit.push_back({reinterpret_cast<void (*)()>(function), nullptr, object, Signature::kPlain});
  return 0;
}

CLUMP_HOST_API int on_exit(void (*function)(int, void*), void* argument) {
  static constinit Hidden<int(void (*)(int, void*), void*)> real{"on_exit"};
  if (!captured()) return real(function, argument);
  return add_at_exit(current_image(), {reinterpret_cast<void (*)()>(function), argument, nullptr,
                                       Signature::kStatusAndArgument});
}

CLUMP_HOST_API void __cxa_finalize(void* object) {
  static constinit Hidden<void(void*)> real{"__cxa_finalize"};
  Image* image = object != nullptr ? image_at(object) : nullptr;
  if (image == nullptr) return real(object);
  run_those_of(*image, object);
  fork_handlers::forget(*image, object);
}

CLUMP_HOST_API int __cxa_thread_atexit_impl(void (*function)(void*), void* argument, void* object) {
  static constinit Hidden<int(void (*)(void*), void*, void*)> real{"__cxa_thread_atexit_impl"};
  static char here = 0;
  if (image_at(object) == nullptr) return real(function, argument, object);
  if (Instance* instance = instance_at(object)) instance->pinned = true;
  if (!thread_registered) {
    const int error = real(&run_thread_handlers, static_cast<void*>(nullptr), static_cast<void*>(&here));
    if (error != 0) return error;
    thread_registered = true;
  }
  thread_handlers = new ThreadHandler{function, argument, thread_handlers};
  return 0;
}

}  // extern "C"
