#include "process/files/fdopen.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/standard.h"
#include "process/libc/exit.h"

namespace clump::image {
namespace {

/// What is behind a stream: the rank's number of a descriptor, because its meaning to the rank may change
/// below the stream.
struct Target {
  Image* owner;
  int descriptor;
  std::FILE* stream;
};

constinit std::atomic<int> count{0};
constinit ForkMutex lock_of_targets;
std::vector<Target*>& targets() {
  static auto& all = *new std::vector<Target*>;
  return all;
}

ssize_t read_cookie(void* cookie, char* bytes, std::size_t size) {
  return read(static_cast<Target*>(cookie)->descriptor, bytes, size);
}

/// Writes for the rank of the stream: when the process ends, the C library flushes all streams on one thread.
ssize_t write_cookie(void* cookie, const char* bytes, std::size_t size) {
  const Target& target = *static_cast<Target*>(cookie);
  fiber::Identity* const caller = fiber::identity();
  fiber::adopt_identity(target.owner->identity());
  const ssize_t written = write(target.descriptor, bytes, size);
  fiber::adopt_identity(caller);
  return written < 0 ? 0 : written;  // 0 means failure to the C library
}

int seek_cookie(void* cookie, off64_t* place, int whence) {
  const off64_t now = lseek64(static_cast<Target*>(cookie)->descriptor, *place, whence);
  if (now < 0) return -1;
  *place = now;
  return 0;
}

int close_cookie(void* cookie) {
  auto* const target = static_cast<Target*>(cookie);
  {
    const std::scoped_lock lock(lock_of_targets);
    std::erase(targets(), target);
  }
  count.fetch_sub(1, std::memory_order_relaxed);  // relaxed: the rank's own streams are made by its own calls
  const int result = standard::close(target->descriptor);
  delete target;
  return result;
}

/// Whether a descriptor with these flags allows what `mode` asks for.
bool allows(int flags, std::string_view mode) {
  const int access = flags & O_ACCMODE;
  const bool reads = mode[0] == 'r', both = mode.find('+') != std::string_view::npos;
  return access == O_RDWR || (!both && access == (reads ? O_RDONLY : O_WRONLY));
}

std::FILE* open_job_stream(int descriptor, const char* mode) {
  static constinit Hidden<int(FILE*, char*, int, std::size_t)> set_buffer{"setvbuf"};
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return nullptr;
  if (!allows(flags, mode)) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const target = new Target{&current_image(), descriptor, nullptr};
  std::FILE* const stream = fopencookie(target, mode, {read_cookie, write_cookie, seek_cookie, close_cookie});
  if (stream == nullptr) {
    delete target;
    return nullptr;
  }
  if (isatty(descriptor) != 0) set_buffer(stream, nullptr, _IOLBF, 0);
  target->stream = stream;
  owners::note_stream_of_caller(stream);
  const std::scoped_lock lock(lock_of_targets);
  targets().push_back(target);
  count.fetch_add(1, std::memory_order_relaxed);  // relaxed: see close_cookie()
  return stream;
}

}  // namespace

int number_of_job_stream(const std::FILE* stream) {
  if (count.load(std::memory_order_relaxed) == 0) [[likely]]  // relaxed: see close_cookie()
    return -1;
  const std::scoped_lock lock(lock_of_targets);
  for (const Target* target : targets())
    if (target->stream == stream) return target->descriptor;
  return -1;
}

void end_job_streams(Image& image, bool flushes) {
  if (count.load(std::memory_order_relaxed) == 0) return;  // relaxed: see close_cookie()
  std::vector<std::FILE*> mine;
  {
    std::unique_lock lock(lock_of_targets, std::try_to_lock);
    if (!lock.owns_lock()) {
      if (!in_host_process()) return;  // held at fork() by a thread that is not in this child
      lock.lock();
    }
    for (const Target* target : targets())
      if (target->owner == &image) mine.push_back(target->stream);
  }
  for (std::FILE* stream : mine) {
    if (ftrylockfile(stream) != 0) continue;
    if (flushes) (void)std::fflush(stream);
    __fpurge(stream);
    funlockfile(stream);
  }
}

}  // namespace clump::image

using namespace clump::image;  // the function below is the C library's, outside of any namespace

extern "C" CLUMP_HOST_API FILE* fdopen(int descriptor, const char* mode) noexcept {
  static constinit Hidden<FILE*(int, const char*)> real{"fdopen"};
  if (!captured()) return real(descriptor, mode);
  if (standard::place_of(descriptor).stream > 0) return open_job_stream(descriptor, mode);
  if (!standard::is_standard(descriptor)) {
    FILE* const stream = real(standard::kernel_number(descriptor), mode);
    if (stream == nullptr) return stream;
    owners::note_stream_above(descriptor, stream);
    if (owners::of(descriptor) == owners::kInherited) owners::note_stream_of_caller(stream);
    return stream;
  }
  // The C library will close it with the stream.
  const int file = standard::make_private(descriptor);
  owners::note_that_caller_has_streams();
  return file < 0 ? nullptr : real(file, mode);
}
