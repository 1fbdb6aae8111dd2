#include "base/uncaught.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/why_refused.h"

namespace clump::base {

namespace {

constinit std::atomic<void (*)(std::string)> teller{nullptr};
constinit std::atomic<bool> telling{false};

std::string words_for(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return words_for_no_memory();
  } catch (const std::system_error& error) {  // of std::thread, for one
    return error.code().value() == EAGAIN ? "cannot start a thread: " + why_refused("pthread_create", EAGAIN)
                                          : error.what();
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
  }
  return "std::terminate() was called";
}

/// What is thrown in here, for lack of memory, calls it again.
[[noreturn]] void on_terminate() noexcept {
  // There is not even memory for the words.
  if (telling.exchange(true)) {
    constexpr std::string_view kWords =
        "Clump: no memory is left, not even to say more (ulimit -v, ulimit -d)\n";
    (void)!::write(STDERR_FILENO, kWords.data(), kWords.size());
    ::_exit(1);
  }
  teller.load()(words_for(std::current_exception()));
  std::abort();
}

}  // namespace

std::string words_for_no_memory() { return "no memory is left: " + why_refused("malloc", ENOMEM); }

void tell_uncaught(void (*tell)(std::string words)) {
#ifdef CLUMP_SANITIZE
  static_cast<void>(tell);
  static_cast<void>(on_terminate);
#else
  teller = tell;
  std::set_terminate(on_terminate);
#endif
}

}  // namespace clump::base
