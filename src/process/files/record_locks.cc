#include "process/files/record_locks.h"

#include <pthread.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>

#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "fiber/kernel_state.h"
#include "image/fork_locks.h"
#include "image/jump.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/lock_ranges.h"
#include "process/files/standard.h"
#include "process/ids.h"
#include "process/mapped_heap.h"
#include "process/rank_state.h"
#include "process/signals/state.h"

namespace clump::image::locks {
namespace {

/// A file in which a rank has, or has had, locks.
struct File {
  // In a handler malloc() may not be called.
  static void* operator new(std::size_t bytes) { return MappedHeap<Tables>::take(bytes); }
  static void operator delete(void* file, std::size_t bytes) { MappedHeap<Tables>::give(file, bytes); }

  Image* owner;
  dev_t device;
  ino_t number;
  int description;  ///< a descriptor of the private open file description
  int users = 0;    ///< calls that are using `description`
  bool gone = false;
  Ranges ranges = {};  ///< that the owner has
};

/// A call of a rank that is waiting for a lock in a file.
struct Waiting {
  const Image* owner;
  dev_t device;
  ino_t number;
  Range range;
};

std::atomic<bool> begun{false};
/// Guards the two tables below and the memory of both. Any rank, in handlers as well: see Held.
constinit ForkMutex lock_of_files;
using Files = MappedVector<std::unique_ptr<File>, Tables>;
using Images = MappedVector<const Image*, Tables>;

// Never destroyed; their memory is not malloc()'s.
Files& files() {
  static auto& all = *new (MappedHeap<Tables>::take(sizeof(Files))) Files;
  return all;
}

MappedVector<const Waiting*, Tables>& waiting() {
  using All = MappedVector<const Waiting*, Tables>;
  static auto& all = *new (MappedHeap<Tables>::take(sizeof(All))) All;
  return all;
}

/// Locks the tables. Meanwhile no signal handler runs, which might need them, as close() does.
class Held {
 public:
  Held() {
    std::uint64_t all = ~std::uint64_t{0};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask_, sizeof all);
    lock_of_files.lock();
  }
  ~Held() {
    const int error = errno;
    lock_of_files.unlock();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, nullptr, sizeof mask_);
    errno = error;
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::uint64_t mask_ = 0;
};

// The system call: the C library's functions are interposed, and call this file.
int control(int descriptor, int command, struct flock* lock) {
  return static_cast<int>(syscall(SYS_fcntl, descriptor, command, lock));
}

int file_lock(int descriptor, int operation) {
  static constinit Hidden<int(int, int)> real{"flock"};
  return real(descriptor, operation);
}

bool status_of(int descriptor, struct stat& status) {
  static constinit Hidden<int(int, struct stat*)> real{"fstat"};
  return real(descriptor, &status) == 0;
}

bool is_of(const File& file, const Image* owner, const struct stat& status) {
  return file.owner == owner && file.number == status.st_ino && file.device == status.st_dev && !file.gone;
}

/// Finds the file of an owner. The tables are locked.
File* find(const Image* owner, const struct stat& status) {
  for (const std::unique_ptr<File>& file : files())
    if (is_of(*file, owner, status)) return file.get();
  return nullptr;
}

/// Removes a file. The tables are locked.
void remove(File& file) {
  file.owner->state().locked_files.fetch_sub(1,
                                             std::memory_order_relaxed);  // relaxed: of the rank's own calls
  standard::let_go(file.description);
  syscall(SYS_close, file.description);
  std::erase_if(files(), [&](const std::unique_ptr<File>& one) { return one.get() == &file; });
}

/// Releases the locks of a file at once, although children may have its description, too. The tables are
/// locked.
void give_up(File& file) {
  struct flock all {};
  all.l_type = F_UNLCK;
  all.l_whence = SEEK_SET;
  file.ranges.clear();
  control(file.description, F_OFD_SETLK, &all);
  file.gone = true;
  if (file.users == 0) remove(file);
}

/// Another open file description of the same file, for reading and writing if the rank may, because later
/// locks may be of either kind. -1 if it cannot be opened.
int open_again(int descriptor, int mode) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  for (const int access : {O_RDWR, mode}) {
    const int opened = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, access | O_CLOEXEC, 0));
    if (opened < 0) continue;
    constexpr int kOutOfTheWay = 200;
    const int high = static_cast<int>(syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, kOutOfTheWay));
    if (high < 0) return opened;
    syscall(SYS_close, opened);
    standard::protect(high);
    return high;
  }
  return -1;
}

/// The use of the description that has the rank's locks of a file, by one call.
class Use {
 public:
  /// `makes`: the call is about to set locks there.
  Use(int descriptor, int mode, bool makes) : descriptor_(descriptor) {
    struct stat status {};
    if (!status_of(descriptor, status) || !S_ISREG(status.st_mode)) return;
    Image& owner = current_image();
    const Held held;
    file_ = find(&owner, status);
    if (file_ == nullptr && makes) {
      const int description = open_again(descriptor, mode);
      if (description < 0) return;
      files().push_back(std::make_unique<File>(File{&owner, status.st_dev, status.st_ino, description}));
      file_ = files().back().get();
      owner.state().locked_files.fetch_add(1, std::memory_order_relaxed);  // relaxed: see remove()
    }
    if (file_ == nullptr) return;
    ++file_->users;
    descriptor_ = file_->description;
  }
  ~Use() { end(); }
  void end() {
    if (file_ == nullptr) return;
    const Held held;
    if (--file_->users == 0 && file_->gone) remove(*file_);
    file_ = nullptr;
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  int descriptor() const { return descriptor_; }
  /// The file; null if the locks belong to the descriptor.
  File* file() const { return file_; }
  /// Notes that the rank has this lock now.
  void note(const struct flock& lock) const {
    if (file_ == nullptr) return;
    const Held held;
    if (!file_->gone) file_->ranges.set(Range::of(lock));
  }

 private:
  int descriptor_;
  File* file_ = nullptr;
};

/// Converts the beginning of a lock to an offset from the beginning of the file. False with errno.
bool make_absolute(int descriptor, struct flock& lock) {
  if (lock.l_whence == SEEK_CUR) {
    const off_t here = static_cast<off_t>(syscall(SYS_lseek, descriptor, 0, SEEK_CUR));
    if (here < 0) return false;
    lock.l_start += here;
  } else if (lock.l_whence == SEEK_END) {
    struct stat status {};
    if (!status_of(descriptor, status)) return false;
    lock.l_start += status.st_size;
  } else if (lock.l_whence != SEEK_SET) {
    errno = EINVAL;
    return false;
  }
  lock.l_whence = SEEK_SET;
  lock.l_pid = 0;
  return true;
}

/// Calls `attempt` until it does not fail with EAGAIN or EWOULDBLOCK. The holder of the lock may be a rank
/// that needs this worker. It gets the worker at once, and not only when the monitor finds that the worker is
/// blocked in the kernel. A long wait is left to the kernel. A handler that ends system calls ends the wait,
/// here as there.
template <typename Attempt, typename Wait>
int wait_until_free(Attempt attempt, Wait wait_in_kernel) {
  using namespace std::chrono_literals;
  if (fiber::rank_fiber() == nullptr) return wait_in_kernel();
  constexpr auto kLongestPause = 1000us;
  constexpr auto kMost = 20ms;
  signals::Thread& self = signals::mine();
  const std::uint64_t interrupted = self.interrupted;
  auto pause = 10us;
  const auto begin = fiber::now();
  while (fiber::exploration::is_on || fiber::now() - begin < kMost) {
    const int result = attempt();
    if (result == 0 || errno != EAGAIN) return result;
    (void)signals::attend(self);  // in the pauses below, no handler runs
    if (self.interrupted != interrupted) {
      errno = EINTR;
      return -1;
    }
    if (fiber::yield_to_all()) continue;
    fiber::sleep_until(fiber::now() + pause);
    pause = std::min<std::chrono::microseconds>(2 * pause, kLongestPause);
  }
  return wait_in_kernel();
}

/// Whether `owner` waits, directly or by way of other ranks of this process, for a lock that `target` has.
/// The tables are locked.
bool leads_to(const Image* target, const Waiting& wish, Images& seen) {
  for (const std::unique_ptr<File>& file : files()) {
    const Image* const holder = file->owner;
    if (holder == wish.owner || file->number != wish.number || file->device != wish.device ||
        !file->ranges.exclude(wish.range))
      continue;
    if (holder == target) return true;
    if (std::ranges::find(seen, holder) != seen.end()) continue;
    seen.push_back(holder);
    for (const Waiting* const next : waiting())
      if (next->owner == holder && leads_to(target, *next, seen)) return true;
  }
  return false;
}

class Wait;
/// The wait of the calling thread, which a handler may leave by siglongjmp().
constinit thread_local Wait* own_wait = nullptr;

/// While one lives, the calling rank waits for a lock.
class Wait {
 public:
  Wait(Use& use, const File& file, const struct flock& wanted)
      : use_(use), waiting_{file.owner, file.device, file.number, Range::of(wanted)} {
    own_wait = this;
    const Held held;
    Images seen;  // freed before the lock is
    is_for_ever_ = leads_to(file.owner, waiting_, seen);
    waiting().push_back(&waiting_);
  }
  ~Wait() {
    if (own_wait == this) end();
  }
  /// The thread leaves the wait, and the functions around it, without their destructors.
  void leave() {
    end();
    use_.end();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  bool is_for_ever() const { return is_for_ever_; }
  const void* frame() const { return frame_; }

 private:
  void end() {
    own_wait = nullptr;
    const Held held;
    std::erase(waiting(), &waiting_);
  }

  Use& use_;
  const void* const frame_ = __builtin_frame_address(0);
  Waiting waiting_;
  bool is_for_ever_ = false;
};

/// With `waits`, a cancellation point, as fcntl() with F_SETLKW is.
int set_description(int descriptor, struct flock& wanted, bool waits) {
  const auto attempt = [&] { return control(descriptor, F_OFD_SETLK, &wanted); };
  if (!waits || wanted.l_type == F_UNLCK) return attempt();
  const auto attempt_or_cancelled = [&] {
    pthread_testcancel();
    return attempt();
  };
  static constinit Hidden<int(int, int, ...)> wait{"fcntl"};
  return wait_until_free(attempt_or_cancelled, [&] { return (*wait)(descriptor, F_OFD_SETLKW, &wanted); });
}

/// Waits for a lock: 0, or -1 with errno; EDEADLK if it would wait for ever.
int wait_for(Use& use, struct flock& wanted) {
  if (use.file() == nullptr) return set_description(use.descriptor(), wanted, true);
  const Wait wait(use, *use.file(), wanted);
  if (!wait.is_for_ever()) return set_description(use.descriptor(), wanted, true);
  errno = EDEADLK;
  return -1;
}

/// The process id of another rank of this process that has locks in this file; -1 if there is none.
pid_t other_holder(int descriptor) {
  struct stat status {};
  if (!status_of(descriptor, status)) return -1;
  const Image* const mine = &current_image();
  const Held held;
  for (const std::unique_ptr<File>& file : files())
    if (file->owner != mine && is_of(*file, file->owner, status))
      return process_ids::of(*file->owner->identity());
  return -1;
}

}  // namespace

void begin() { begun.store(true, std::memory_order_release); }  // release: pairs with acquire in are_kept()

bool are_kept() {
  return begun.load(std::memory_order_acquire) && !standard::in_child();  // acquire: pairs with begin()
}

int set(int descriptor, struct flock wanted, bool waits) {
  const int flags = static_cast<int>(syscall(SYS_fcntl, descriptor, F_GETFL));
  if (flags < 0) return -1;
  const int mode = flags & O_ACCMODE;
  const bool fits = (flags & O_PATH) == 0 && (wanted.l_type != F_RDLCK || mode != O_WRONLY) &&
                    (wanted.l_type != F_WRLCK || mode != O_RDONLY);
  if (!fits) {
    errno = EBADF;
    return -1;
  }
  if (!make_absolute(descriptor, wanted)) return -1;
  Use use(descriptor, mode, wanted.l_type != F_UNLCK);
  if (wanted.l_type == F_UNLCK) use.note(wanted);
  int result = set_description(use.descriptor(), wanted, false);
  if (result != 0 && errno == EAGAIN && waits) result = wait_for(use, wanted);
  if (result == 0) use.note(wanted);
  return result;
}

int get(int descriptor, struct flock& lock) {
  struct flock probe = lock;
  if (!make_absolute(descriptor, probe)) return -1;
  const Use use(descriptor, O_RDONLY, false);
  if (control(use.descriptor(), F_OFD_GETLK, &probe) != 0) return -1;
  if (probe.l_type == F_UNLCK) {
    lock.l_type = F_UNLCK;
    return 0;
  }
  if (probe.l_pid == -1) probe.l_pid = other_holder(descriptor);
  lock = probe;
  return 0;
}

int wait_for_description(int descriptor, struct flock wanted) {
  return set_description(descriptor, wanted, true);
}

int wait_for_file(int descriptor, int operation) {
  return wait_until_free([&] { return file_lock(descriptor, operation | LOCK_NB); },
                         [&] { return file_lock(descriptor, operation); });
}

void leave_by(const Jump& jump) noexcept {
  if (own_wait != nullptr && jump.leaves(own_wait->frame())) own_wait->leave();
}

bool has_any() {
  // relaxed: of the rank's own calls
  return current_image().state().locked_files.load(std::memory_order_relaxed) != 0;
}

void before_close(int descriptor) {
  if (!has_any()) [[likely]]
    return;
  const int error = errno;
  struct stat status {};
  if (are_kept() && status_of(descriptor, status)) {
    const Held held;
    if (File* const file = find(&current_image(), status)) give_up(*file);
  }
  errno = error;
}

void before_close_range(unsigned first, unsigned last) {
  if (!has_any()) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    last = std::min(last, static_cast<unsigned>(limit.rlim_cur));
  for (unsigned number = first; number < last; ++number) before_close(static_cast<int>(number));
  before_close(static_cast<int>(last));
}

void release_all(Image& image) {
  if (image.state().locked_files.load(std::memory_order_relaxed) == 0 || !are_kept()) return;
  const Held held;
  MappedVector<File*, Tables> mine;
  for (const std::unique_ptr<File>& file : files())
    if (file->owner == &image && !file->gone) mine.push_back(file.get());
  for (File* file : mine) give_up(*file);
}

void forget_after_fork() {
  // The parent has the descriptions, too, and keeps its locks.
  for (const std::unique_ptr<File>& file : files()) syscall(SYS_close, file->description);
  current_image().state().locked_files.store(0, std::memory_order_relaxed);  // relaxed: the only thread
  waiting().clear();
}

}  // namespace clump::image::locks
