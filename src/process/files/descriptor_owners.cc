#include "process/files/descriptor_owners.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio_ext.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include <fmt/format.h>

#include "image/from_process.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/files/streams.h"
#include "process/rank_state.h"
#include "process/refusal.h"
#include "process/signals/state.h"
#include "process/threads/left_behind.h"

namespace clump::image::owners {

constinit std::atomic<Owner> table[kNumbers];

namespace {

/// The stream above a descriptor, if the rank has opened one there.
constinit std::atomic<std::FILE*> streams[kNumbers];
/// 1 + the highest number that has an owner.
constinit std::atomic<int> end_of_known{0};
/// How many ranks have closed an inherited descriptor.
constexpr int kMostInherited = StandardState::kMostInherited;
constinit std::atomic<int> closed_by[kMostInherited];

/// A stream without a descriptor of its rank's own: note_stream_of_caller(). The rank writes both words when
/// it opens and closes the stream; any thread reads them, also in a child of fork(), so there is no lock.
struct OtherStream {
  std::atomic<const std::FILE*> stream{nullptr};
  std::atomic<Owner> owner{kUnknown};
};
/// A rank that opens more of them at a time flushes the rest by itself only (fflush() of the stream).
constexpr int kMostOtherStreams = 1 << 14;
constinit OtherStream other_streams[kMostOtherStreams];
/// 1 + the highest place that was ever used.
constinit std::atomic<int> end_of_other_streams{0};

OtherStream* find_other(const std::FILE* stream) {
  // acquire: pairs with release in note_stream_of_caller()
  const int end = end_of_other_streams.load(std::memory_order_acquire);
  for (int i = 0; i < end; ++i)
    if (other_streams[i].stream.load(std::memory_order_acquire) == stream) return &other_streams[i];
  return nullptr;
}

int kernel_close(int descriptor) { return static_cast<int>(syscall(SYS_close, descriptor)); }
int flags_of(int descriptor) { return static_cast<int>(syscall(SYS_fcntl, descriptor, F_GETFD)); }

void set(int descriptor, Owner owner) {
  const auto number = static_cast<unsigned>(descriptor);
  if (descriptor <= 2 || number >= kNumbers) return;
  // relaxed, here and below: see of()
  table[number].store(owner, std::memory_order_relaxed);
  streams[number].store(nullptr, std::memory_order_relaxed);
  int end = end_of_known.load(std::memory_order_relaxed);
  while (end <= descriptor &&
         !end_of_known.compare_exchange_weak(end, descriptor + 1, std::memory_order_relaxed)) {
  }
}

Owner maker(const void* caller) {
  return caller != nullptr && image_at(caller) != nullptr ? calling_rank() : kShared;
}

std::uint64_t bit_of(int descriptor) { return std::uint64_t{1} << (descriptor % 64); }

std::atomic<std::uint64_t>& word_of(Image& image, int descriptor) {
  return image.state().standard.closed_inherited[descriptor / 64];
}

bool has_closed(Image& image, int descriptor) {
  return (word_of(image, descriptor).load(std::memory_order_relaxed) & bit_of(descriptor)) != 0;
}

Closing close_inherited(Image& image, int descriptor) {
  const std::uint64_t bit = bit_of(descriptor);
  if ((word_of(image, descriptor).fetch_or(bit, std::memory_order_relaxed) & bit) != 0)
    return Closing::kRefused;
  const int closed = closed_by[descriptor].fetch_add(1, std::memory_order_relaxed) + 1;
  const int ranks = signals::rank_count();  // 0 in the constructors of the native rank
  if (ranks == 0 || closed < ranks) return Closing::kNoted;
  forget(descriptor);
  return Closing::kReally;
}

/// Whether the calling rank does not have a number, given its owner.
bool is_foreign(Image& mine, int descriptor, Owner owner) {
  if (owner == kUnknown || owner == kShared || owner == calling_rank()) return false;
  return owner != kInherited || has_closed(mine, descriptor);
}

template <typename Act>
void for_each_known(unsigned first, unsigned last, Act act) {
  const auto end = static_cast<unsigned>(end_of_known.load(std::memory_order_relaxed));
  if (end == 0) return;
  for (unsigned number = std::max(first, 3U); number <= std::min(last, end - 1); ++number)
    if (const Owner owner = of(static_cast<int>(number)); owner != kUnknown)
      act(static_cast<int>(number), owner);
}

bool is_read_end(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) &&
         (syscall(SYS_fcntl, descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

/// Puts in the file's place one of which a read waits for ever. False if there is none.
bool retire(int descriptor) {
  static constinit std::atomic<int> none{-1};
  if (none.load() < 0) {
    const int fresh = move_up(static_cast<int>(syscall(SYS_eventfd2, 0, EFD_CLOEXEC)));
    int before = -1;
    (void)none.compare_exchange_strong(before, fresh);  // another rank that ends now may have made one, too
  }
  if (syscall(SYS_dup3, none.load(), descriptor, O_CLOEXEC) < 0) return false;
  set(descriptor, kRetired);
  return true;
}

/// Detaches a stream from its number: the C library would flush it when the process ends, and by then its
/// number may belong to another rank. False if another thread of the rank uses the stream.
bool end_stream(std::FILE* stream, bool flushes) {
  static constinit Hidden<int(std::FILE*)> flush{"fflush_unlocked"};
  if (ftrylockfile(stream) != 0) return false;
  if (flushes && __fpending(stream) > 0) (void)flush(stream);
  __fpurge(stream);
  stream->_fileno = -1;
  funlockfile(stream);
  return true;
}

/// Discards what those of other_streams hold for whose owner `is_wanted` is true. Then the C library does not
/// call the rank's functions below them when the process ends.
template <typename IsWanted>
void discard_other_streams(IsWanted is_wanted) {
  if (end_of_other_streams.load(std::memory_order_relaxed) == 0) return;
  (void)find_stream([&](std::FILE* stream) {
    OtherStream* const found = find_other(stream);
    if (found == nullptr || !is_wanted(found->owner.load(std::memory_order_relaxed))) return false;
    if (ftrylockfile(stream) != 0) return false;
    __fpurge(stream);
    funlockfile(stream);
    forget_stream(stream);
    return false;
  });
}

}  // namespace

bool is_closed_for_caller(int descriptor, Owner owner) {
  const fiber::Identity* const mine = fiber::identity();
  if (mine == nullptr || owner == kShared || standard::in_child()) return false;
  if (!is_foreign(image_of(mine), descriptor, owner)) return false;
  left_behind::stay_if_left();
  return true;
}

void begin() {
  rlimit limit{};
  if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit) != 0) return;
  pollfd all[kMostInherited];
  const int count = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, kMostInherited));
  for (int number = 0; number < count; ++number) all[number] = {number, 0, 0};
  constexpr timespec kNoTime{0, 0};
  if (syscall(SYS_ppoll, all, count, &kNoTime, nullptr, 0) < 0) return;
  for (int number = 3; number < count; ++number)
    if ((all[number].revents & POLLNVAL) == 0) set(number, kInherited);
}

void note(int descriptor, const void* caller) {
  if (descriptor > 2) set(descriptor, maker(caller));
}

void note_for_rank(int descriptor, std::FILE* stream) {
  if (!captured() || standard::in_child()) return;
  set(descriptor, calling_rank());
  note_stream_above(descriptor, stream);
}

void note_that_caller_has_streams() {
  // relaxed: the thread that ends the rank comes after what the rank has done
  current_image().state().standard.has_streams.store(true, std::memory_order_relaxed);
}

void note_stream_above(int descriptor, std::FILE* stream) {
  note_that_caller_has_streams();
  const Owner owner = of(descriptor);
  if (owner != kUnknown && owner == calling_rank() && !standard::has_memory_of_parent())
    streams[descriptor].store(stream, std::memory_order_relaxed);
}

void note_stream(std::FILE* stream, const void* caller) {
  if (stream == nullptr || !captured() || standard::in_child()) return;
  if (stream->_fileno <= 2) return note_that_caller_has_streams();
  set(stream->_fileno, maker(caller));
  note_stream_above(stream->_fileno, stream);
}

void note_stream_of_caller(std::FILE* stream) {
  if (stream == nullptr || !captured() || standard::in_child()) return;
  note_that_caller_has_streams();
  forget_stream(stream);  // one at this address that was closed in a way that is not seen here
  for (int i = 0; i < kMostOtherStreams; ++i) {
    OtherStream& place = other_streams[i];
    const std::FILE* none = nullptr;
    if (place.stream.load(std::memory_order_relaxed) != nullptr) continue;
    // relaxed: this stream is in no table yet
    if (!place.stream.compare_exchange_strong(none, stream, std::memory_order_relaxed)) continue;
    place.owner.store(calling_rank(), std::memory_order_relaxed);
    int end = end_of_other_streams.load(std::memory_order_relaxed);
    while (end <= i && !end_of_other_streams.compare_exchange_weak(
                           end, i + 1, std::memory_order_release)) {  // release: pairs with find_other()
    }
    return;
  }
}

void forget_stream(const std::FILE* stream) {
  OtherStream* const found = find_other(stream);
  if (found == nullptr) return;
  found->owner.store(kUnknown, std::memory_order_relaxed);
  found->stream.store(nullptr, std::memory_order_release);  // release: pairs with acquire in find_other()
}

StreamOwner owner_of_stream(const std::FILE* stream) {
  // What other ranks' streams held is discarded, and their numbers are closed.
  if (standard::has_forked()) return StreamOwner::kUnknown;
  Owner owner = stream->_fileno > 2 ? of(stream->_fileno) : kUnknown;
  if (owner == kUnknown || owner == kShared || owner == kInherited) {
    const OtherStream* const found = find_other(stream);
    owner = found != nullptr ? found->owner.load(std::memory_order_relaxed) : kUnknown;
  }
  if (owner == kUnknown) return StreamOwner::kUnknown;
  return owner == calling_rank() ? StreamOwner::kCaller : StreamOwner::kOther;
}

void forget(int descriptor) {
  const auto number = static_cast<unsigned>(descriptor);
  if (number >= kNumbers || of(descriptor) == kUnknown || standard::has_memory_of_parent()) return;
  table[number].store(kUnknown, std::memory_order_relaxed);
  streams[number].store(nullptr, std::memory_order_relaxed);
}

Closing close(int descriptor, const void* caller) {
  const Owner owner = of(descriptor);
  if (owner == kUnknown) return Closing::kReally;
  const bool is_mine = owner == calling_rank();
  if (is_mine || image_at(caller) == nullptr || standard::in_child()) {
    forget(descriptor);
    return Closing::kReally;
  }
  return owner == kInherited ? close_inherited(current_image(), descriptor) : Closing::kRefused;
}

void close_range(unsigned first, unsigned last, const void* caller) {
  for_each_known(first, last, [&](int descriptor, Owner owner) {
    if (owner == calling_rank() || owner == kInherited) (void)standard::close(descriptor, caller);
  });
}

void close_range_on_exec(unsigned first, unsigned last) {
  for_each_known(first, last, [&](int descriptor, Owner owner) {
    if (owner == calling_rank() || owner == kInherited) syscall(SYS_fcntl, descriptor, F_SETFD, FD_CLOEXEC);
  });
}

void check_replacing(int from, int descriptor, const void* caller) {
  const Owner owner = of(descriptor);
  if (owner == kUnknown || owner == kShared || owner == kRetired || owner == calling_rank()) return;
  if (image_at(caller) == nullptr || standard::in_child() || flags_of(descriptor) < 0) return;
  if (owner == kInherited && signals::rank_count() == 1) return;
  const std::string whose =
      owner == kInherited ? "the ranks have been started with" : fmt::format("rank {} has made", owner - 1);
  refuse(fmt::format("dup2({}, {})", from, descriptor),
         fmt::format("closes a descriptor that {}, in the process", whose));
}

int count_mine() {
  int count = 0;
  for_each_known(3, kNumbers, [&](int, Owner owner) { count += static_cast<int>(owner == calling_rank()); });
  return count;
}

void close_all(Image& image, bool flushes) {
  if (!captured() || standard::in_child() || image.identity() == nullptr) return;
  const bool leaves_threads = left_behind::begin(image);
  const Owner mine = static_cast<Owner>(image.identity()->rank) + 1;
  for_each_known(3, kNumbers, [&](int descriptor, Owner owner) {
    if (owner == kInherited && !has_closed(image, descriptor))
      closed_by[descriptor].fetch_add(1, std::memory_order_relaxed);
    if (owner != mine) return;
    std::FILE* const stream = streams[descriptor].load(std::memory_order_relaxed);
    if (stream != nullptr && !end_stream(stream, flushes)) return;
    if (leaves_threads && (is_read_end(descriptor) || retire(descriptor))) return;
    forget(descriptor);
    kernel_close(descriptor);
  });
  discard_other_streams([mine](Owner owner) { return owner == mine; });
}

void close_others_in_child() {
  Image& mine = current_image();
  for_each_known(3, kNumbers, [&](int descriptor, Owner owner) {
    if (is_foreign(mine, descriptor, owner)) kernel_close(descriptor);
  });
}

void discard_streams_of_others() {
  for_each_known(3, kNumbers, [&](int descriptor, Owner owner) {
    if (owner == calling_rank()) return;
    if (std::FILE* const stream = streams[descriptor].load(std::memory_order_relaxed))
      (void)end_stream(stream, false);
  });
  discard_other_streams([](Owner owner) { return owner != kUnknown && owner != calling_rank(); });
}

void for_each_to_close(void (*act)(int descriptor, void* argument), void* argument) {
  Image& mine = current_image();
  for_each_known(3, kNumbers, [&](int descriptor, Owner owner) {
    if (is_foreign(mine, descriptor, owner) && flags_of(descriptor) == 0) act(descriptor, argument);
  });
}

}  // namespace clump::image::owners
