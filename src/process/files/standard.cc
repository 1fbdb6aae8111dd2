#include "process/files/standard.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/foreign_name.h"
#include "image/from_process.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/output.h"
#include "process/files/record_locks.h"
#include "process/files/streams.h"
#include "process/rank_state.h"
#include "process/refusal.h"

namespace clump::image {
namespace standard {
namespace {

constexpr int kOutOfTheWay = 200;  // as for other descriptors of the process that programs do not expect
constexpr std::int16_t kOwn = -1;

/// How many numbers have an entry in `duplicates`. The entry of a number above 2 is 1 + the number of the
/// job's stream that it is a duplicate of; 0: of none. Duplicates with larger numbers are not recognised.
constexpr int kDuplicates = 1 << 20;
/// The value of the entry if the descriptor is not the program's.
constexpr std::uint8_t kProtected = 255;
constinit std::atomic<std::uint8_t> duplicates[kDuplicates];

/// Whether this is a child that fork() has made.
constinit std::atomic<bool> forked{false};
/// The process that the ranks share.
constinit std::atomic<pid_t> process{0};
/// The child of vfork() that runs on this thread, in its parent's memory, and has changed one of the three.
constinit thread_local pid_t borrower = 0;

pid_t this_process() { return static_cast<pid_t>(syscall(SYS_getpid)); }

bool is_borrowed() {
  if (borrower == 0) [[likely]]
    return false;
  if (borrower == this_process()) return true;
  borrower = 0;  // it has ended
  return false;
}

/// Whether the numbers 0, 1 and 2 are the kernel's.
bool is_at_home() { return forked.load(std::memory_order_relaxed) || is_borrowed(); }  // relaxed: one thread

// The system calls: the C library's functions of these names are interposed, and call this file.
int kernel_fcntl(int descriptor, int command, int argument) {
  return static_cast<int>(syscall(SYS_fcntl, descriptor, command, argument));
}
int kernel_close(int descriptor) { return static_cast<int>(syscall(SYS_close, descriptor)); }
int kernel_dup3(int from, int to, bool closed_on_exec) {
  if (from == to) return kernel_fcntl(to, F_SETFD, closed_on_exec ? FD_CLOEXEC : 0) == 0 ? to : -1;
  return static_cast<int>(syscall(SYS_dup3, from, to, closed_on_exec ? O_CLOEXEC : 0));
}
int lift(int descriptor) { return kernel_fcntl(descriptor, F_DUPFD_CLOEXEC, kOutOfTheWay); }

StandardState& mine() { return current_image().state().standard; }

void note_duplicate(int descriptor, int stream) {
  // relaxed: a thread that uses the number has it from the thread that made it
  if (descriptor > 2 && descriptor < kDuplicates)
    duplicates[descriptor].store(static_cast<std::uint8_t>(stream + 1), std::memory_order_relaxed);
}

bool is_protected(int descriptor) {
  // relaxed: as above
  return descriptor > 2 && descriptor < kDuplicates &&
         duplicates[descriptor].load(std::memory_order_relaxed) == kProtected && !in_child();
}

int fail(int error) {
  errno = error;
  return -1;
}

/// Changes what one of the three is: what was printed to it is written first, and what it was is closed.
void change(int descriptor, Place next) {
  output::RankOutput& output = current_image().state().output;
  const Place last = place_of_standard(descriptor);
  if (descriptor != 0) output.leave(descriptor, last.stream);
  const Place before = mine().now[descriptor].exchange(next);
  if (descriptor == 0) use_as_input(next.real);
  if (!next.shared && next.real > 2) protect(next.real);
  if (before.shared || before.real <= 2 || before.real == next.real) return;
  let_go(before.real);
  locks::before_close(before.real);
  kernel_close(before.real);
}

/// Notes, in a child, where the numbers are the kernel's, that one of the three is now a file.
void note_at_home(int descriptor) {
  if (static_cast<unsigned>(descriptor) > 2 || is_borrowed()) return;
  if (descriptor != 0) current_image().state().output.leave(descriptor, place_of_standard(descriptor).stream);
  mine().now[descriptor].store({descriptor, kOwn, true});
}

int replace_at_home(int from, int to, bool closed_on_exec) {
  note_at_home(to);
  return kernel_dup3(from, to, closed_on_exec);
}

/// Whether the rank has more descriptors than the limit that it has set.
bool is_one_too_many(const void* caller) {
  const std::uint64_t most =
      mine().most_open.load(std::memory_order_relaxed);  // relaxed: of the rank's own calls
  return most != 0 && image_at(caller) != nullptr &&
         static_cast<std::uint64_t>(owners::count_mine()) + 3 > most;
}

/// Gives a new descriptor above 2 to the rank, if the rank may have one more: returns the descriptor, or -1
/// with EMFILE.
int keep_made(int made, const void* caller) {
  owners::note(made, caller);
  if (!is_one_too_many(caller)) return made;
  owners::forget(made);
  kernel_close(made);
  return fail(EMFILE);
}

/// Gives a new descriptor the rank's lowest free number. It is a duplicate of this stream of the job's (kOwn:
/// of none).
int to_lowest(int made, std::int16_t stream, const void* caller) {
  for (int number = 0; number <= 2; ++number) {
    if (place_of_standard(number).real >= 0) continue;
    if (image_at(caller) == nullptr) return made;
    const bool closed_on_exec = (kernel_fcntl(made, F_GETFD, 0) & FD_CLOEXEC) != 0;
    Place next{-1, stream, false, closed_on_exec};
    if (stream != kOwn) {
      next = mine().given[stream].load();
      next.closed_on_exec = closed_on_exec;
    } else if ((next.real = lift(made)) < 0) {
      return made;
    }
    note_duplicate(made, kOwn);
    owners::forget(made);
    kernel_close(made);
    change(number, next);
    return number;
  }
  return made;
}

/// Makes the kernel's 0, 1 and 2 what they are to the rank, and closes what they were.
void bring_home(const Place (&places)[3]) {
  int source[3];
  for (int number = 0; number <= 2; ++number) {
    const int real = places[number].real;
    source[number] = real >= 0 && real <= 2 && real != number ? lift(real) : real;
  }
  for (int number = 0; number <= 2; ++number) {
    if (source[number] < 0)
      kernel_close(number);
    else if (source[number] != number || places[number].closed_on_exec)
      kernel_dup3(source[number], number, places[number].closed_on_exec);
  }
  for (int number = 0; number <= 2; ++number) {
    if (source[number] > 2 && (source[number] != places[number].real || !places[number].shared))
      kernel_close(source[number]);
  }
}

void note_places(Place (&places)[3]) {
  for (int number = 0; number <= 2; ++number) places[number] = mine().now[number].load();
}

/// In a child that has its parent's memory, as that of vfork(): from here on the numbers are the kernel's.
void leave_table_of_parent() {
  if (is_at_home() || this_process() == process.load(std::memory_order_relaxed)) return;
  owners::close_others_in_child();
  Place places[3];
  note_places(places);
  bring_home(places);
  borrower = this_process();
}

}  // namespace

Place place_of_standard(int descriptor) {
  if (is_borrowed()) return {descriptor, kOwn, true};
  return mine().now[descriptor].load(std::memory_order_relaxed);  // relaxed: a program orders its own calls
}

Place place_of(int descriptor) {
  if (!captured()) return {descriptor, kOwn, true};
  if (static_cast<unsigned>(descriptor) <= 2) return place_of_standard(descriptor);
  Place place{owners::is_closed_for_caller(descriptor) ? -1 : descriptor, kOwn, true};
  // relaxed: see note_duplicate()
  if (descriptor > 2 && descriptor < kDuplicates && !is_at_home()) {
    const std::uint8_t known = duplicates[descriptor].load(std::memory_order_relaxed);
    if (known != kProtected) place.stream = static_cast<std::int16_t>(known - 1);
  }
  return place;
}

int number_of(int real) {
  if (!captured() || real < 0) return real;
  for (int number = 0; number <= 2; ++number) {
    const Place place = place_of_standard(number);
    if (place.real == real && !place.shared) return number;
  }
  return real;
}

int duplicate(int descriptor, int lowest, bool closed_on_exec, const void* caller) {
  const Place place = place_of(descriptor);
  const int command = closed_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD;
  const int made = kernel_fcntl(place.real, command, lowest);
  if (made <= 2 || !captured() || in_child()) return made;
  note_duplicate(made, place.stream);
  if (keep_made(made, caller) < 0) return -1;
  return lowest == 0 ? to_lowest(made, place.stream, caller) : made;
}

int replace(int from, int to, bool closed_on_exec, const void* caller) {
  if (!captured()) return kernel_dup3(from, to, closed_on_exec);
  if (is_standard(to)) leave_table_of_parent();
  const Place source = place_of(from);
  if (kernel_fcntl(source.real, F_GETFD, 0) < 0) return -1;
  if (to < 0) return fail(EBADF);
  if (is_at_home()) return replace_at_home(source.real, to, closed_on_exec);
  if (to > 2) {
    if (is_protected(to) || (owners::of(to) == owners::kShared && image_at(caller) != nullptr))
      return fail(EBUSY);
    owners::check_replacing(from, to, caller);
    if (has_memory_of_parent()) return kernel_dup3(source.real, to, closed_on_exec);
    locks::before_close(to);
    const int made = kernel_dup3(source.real, to, closed_on_exec);
    if (made < 0) return made;
    note_duplicate(made, source.stream);
    owners::note(made, caller);
    return made;
  }
  Place next{source.real, source.stream, false, closed_on_exec};
  if (source.stream != kOwn) {
    next = mine().given[source.stream].load();
    next.closed_on_exec = closed_on_exec;
  } else {
    next.real = lift(source.real);
    if (next.real < 0) return -1;
  }
  change(to, next);
  return to;
}

int close(int descriptor, const void* caller) {
  if (!is_standard(descriptor)) {
    static constinit Hidden<int(int)> real{"close"};  // which is a cancellation point
    if (captured()) {
      if (is_protected(descriptor) && image_at(caller) != nullptr) return fail(EBADF);
      const owners::Closing closing = owners::close(descriptor, caller);
      if (closing == owners::Closing::kNoted) return 0;
      if (closing == owners::Closing::kRefused) return fail(EBADF);
      if (has_memory_of_parent()) return real(descriptor);
      note_duplicate(descriptor, kOwn);
      locks::before_close(descriptor);
    }
    return real(descriptor);
  }
  leave_table_of_parent();
  if (is_at_home()) {
    note_at_home(descriptor);
    return kernel_close(descriptor);
  }
  if (place_of_standard(descriptor).real < 0) return fail(EBADF);
  change(descriptor, {});
  return 0;
}

int close_range(unsigned first, unsigned last, int flags, const void* caller) {
  static constinit Hidden<int(unsigned, unsigned, int)> real{"close_range"};
  if (!captured() || first > last || in_child()) {
    if (captured() && first <= 2 && flags == 0) leave_table_of_parent();
    return real(first, last, flags);
  }
  if ((flags & CLOSE_RANGE_UNSHARE) != 0)
    refuse("close_range() with CLOSE_RANGE_UNSHARE", "changes the kernel thread that runs the rank");
  if ((flags & ~CLOSE_RANGE_CLOEXEC) != 0) return fail(EINVAL);
  for (unsigned number = first; number <= 2 && number <= last; ++number) {
    if (flags != 0)
      set_descriptor_flags(static_cast<int>(number), FD_CLOEXEC);
    else
      close(static_cast<int>(number), caller);
  }
  if (flags != 0)
    owners::close_range_on_exec(first, last);
  else
    owners::close_range(first, last, caller);
  return 0;
}

int descriptor_flags(int descriptor) {
  const Place place = place_of_standard(descriptor);
  if (place.real < 0) return fail(EBADF);
  if (is_at_home()) return kernel_fcntl(place.real, F_GETFD, 0);
  return place.closed_on_exec ? FD_CLOEXEC : 0;
}

int set_descriptor_flags(int descriptor, int flags) {
  leave_table_of_parent();
  Place place = place_of_standard(descriptor);
  if (place.real < 0) return fail(EBADF);
  if (is_at_home()) return kernel_fcntl(place.real, F_SETFD, flags);
  place.closed_on_exec = (flags & FD_CLOEXEC) != 0;
  mine().now[descriptor].store(place);
  return 0;
}

int place_lowest(int made, const void* caller) {
  if (made <= 2 || !captured() || in_child()) return made;
  note_duplicate(made, kOwn);  // this number may have been closed in a way that was not seen
  return keep_made(made, caller) < 0 ? -1 : to_lowest(made, kOwn, caller);
}

std::FILE* keep_stream(std::FILE* stream, const void* caller) {
  if (stream == nullptr || !captured() || in_child() || stream->_fileno <= 2) return stream;
  note_duplicate(stream->_fileno, kOwn);
  owners::note_stream(stream, caller);
  if (!is_one_too_many(caller)) return stream;
  (void)std::fclose(stream);
  errno = EMFILE;
  return nullptr;
}

void put(int descriptor, int file) {
  if (is_at_home()) {
    if (file == descriptor) return note_at_home(descriptor);
    replace_at_home(file, descriptor, false);
  } else {
    const int high = lift(file);
    if (high < 0) return change(descriptor, {file, kOwn});
    change(descriptor, {high, kOwn});
  }
  kernel_close(file);
}

int make_private(int descriptor) {
  Place place = place_of_standard(descriptor);
  if (place.real < 0) return fail(EBADF);
  if (!place.shared || is_at_home()) return place.real;
  place.real = lift(place.real);
  place.shared = false;
  if (place.real >= 0) change(descriptor, place);
  return place.real;
}

void note_closed(int descriptor) {
  if (descriptor > 2) {
    if (!has_memory_of_parent()) note_duplicate(descriptor, kOwn);
    return;
  }
  if (!is_standard(descriptor) || is_at_home()) return;
  let_go(place_of_standard(descriptor).real);
  mine().now[descriptor].store({});
}

void protect(int real) {
  // relaxed: a thread that must not close the descriptor does not know its number yet
  if (real > 2 && real < kDuplicates) duplicates[real].store(kProtected, std::memory_order_relaxed);
}

void let_go(int real) { note_duplicate(real, kOwn); }

void give(Image& image, int descriptor, int file) {
  const Place place{file, static_cast<std::int16_t>(descriptor), true};
  image.state().standard.given[descriptor].store(place);
  image.state().standard.now[descriptor].store(place);
}

bool is_home() {
  if (!captured()) return true;
  for (int number = 0; number <= 2; ++number) {
    const Place place = place_of_standard(number);
    if (place.real != number || place.closed_on_exec) return false;
  }
  return true;
}

void begin() {
  process.store(this_process(), std::memory_order_relaxed);
  owners::begin();
}

bool has_forked() { return forked.load(std::memory_order_relaxed); }  // relaxed: one thread has come with it

bool has_memory_of_parent() {
  return !has_forked() && this_process() != process.load(std::memory_order_relaxed);
}

bool in_child() { return is_at_home() || this_process() != process.load(std::memory_order_relaxed); }

void limit_open_files(const fiber::Identity& rank, std::uint64_t most) {
  const bool is_any = most == ~std::uint64_t{0};
  // relaxed: see is_one_too_many(). A limit of 0 is set as 1: both allow no descriptor.
  image_of(&rank).state().standard.most_open.store(is_any ? 0 : std::max<std::uint64_t>(most, 1),
                                                   std::memory_order_relaxed);
}

void close_own(Image& image) {
  if (!captured() || in_child()) return;
  for (std::atomic<Place>& now : image.state().standard.now) {
    const Place place = now.load();
    if (place.shared || place.real <= 2) continue;
    now.store({});
    let_go(place.real);
    kernel_close(place.real);
  }
}

void go_home(bool may_use_streams) {
  if (!captured() || is_at_home()) return;
  if (may_use_streams) owners::discard_streams_of_others();
  owners::close_others_in_child();
  Place places[3];
  note_places(places);
  bring_home(places);
  forked.store(true, std::memory_order_relaxed);
  for (int number = 0; number <= 2; ++number) {
    const bool same = places[number].real == number && places[number].stream == number;
    mine().now[number].store({number, same ? places[number].stream : kOwn, true});
  }
  use_as_input(0);
}

void go_home_for_exec() {
  if (captured()) leave_table_of_parent();
}

int named_by(const char* path) {
  if (path == nullptr || path[0] != '/' || !captured()) return -1;
  const std::string_view name(path);
  constexpr std::string_view kNames[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
  for (int number = 0; number <= 2; ++number)
    if (name == kNames[number]) return number;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (name.size() != folder.size() + 1 || !name.starts_with(folder)) continue;
    const int number = name.back() - '0';
    return number >= 0 && number <= 2 ? number : -1;
  }
  return -1;
}

}  // namespace standard

int move_up(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, standard::kOutOfTheWay);
  if (high < 0) return descriptor;
  close(descriptor);
  standard::protect(high);
  return high;
}

base::Status send_output_to(fiber::Identity& rank, int descriptor, const std::string& path, bool only) {
  if (const std::optional<uid_t> other = base::foreign_name_by(path.c_str()))
    return base::fail(MPI_ERR_BAD_FILE,
                      "cannot write {}: another user (uid {}) has put a link or a FIFO there", path, *other);
  const int opened = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (opened < 0) return base::fail(MPI_ERR_BAD_FILE, "cannot write {}: {}", path, std::strerror(errno));
  output::Stream& stream = image_of(&rank).state().output.stream(descriptor);
  const int file = move_up(opened);
  if (only) standard::give(image_of(&rank), descriptor, file);
  only ? stream.redirect(file) : stream.copy_to(file);
  return {};
}

}  // namespace clump::image
