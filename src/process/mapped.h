// Memory for functions that POSIX lets a signal handler call: it comes from the kernel, because malloc() may
// be what the handler has interrupted. All functions here are async-signal-safe and keep no lock.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace clump::image {

/// An array for the time of one call: on the stack if it has few elements. They are not initialised. By the
/// thread that has made it.
template <typename T, std::size_t kOnStack = 64>
class CallArray {
 public:
  explicit CallArray(std::size_t count) : bytes_(count * sizeof(T)) {
    if (count <= kOnStack) return;
    // The system calls, here and below: the C library's functions are interposed.
    const long made =
        ::syscall(SYS_mmap, nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    all_ = made == -1 ? nullptr : reinterpret_cast<T*>(made);
  }
  ~CallArray() {
    if (all_ == here_ || all_ == nullptr) return;
    const int error = errno;
    ::syscall(SYS_munmap, all_, bytes_);
    errno = error;
  }
  CallArray(const CallArray&) = delete;
  CallArray& operator=(const CallArray&) = delete;

  /// Null, with errno, if there is no memory.
  T* data() { return all_; }

 private:
  std::size_t bytes_;
  T here_[kOnStack];
  T* all_ = here_;
};

/// A text that grows. Its owner's lock guards it.
class MappedText {
 public:
  MappedText() = default;
  ~MappedText() { unmap(); }
  MappedText(const MappedText&) = delete;
  MappedText& operator=(const MappedText&) = delete;

  std::string_view text() const { return {begin_, size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// False if there is no memory: then nothing is added.
  bool append(std::string_view more) {
    if (more.empty()) return true;
    if (size_ + more.size() > room_ && !grow(size_ + more.size())) return false;
    std::memcpy(begin_ + size_, more.data(), more.size());
    size_ += more.size();
    return true;
  }
  void clear() {
    size_ = 0;
    if (room_ > kKept) unmap();
  }

 private:
  static constexpr std::size_t kLeast = 4096, kKept = std::size_t{64} << 10;

  [[gnu::cold]] bool grow(std::size_t wanted) {
    std::size_t room = room_ == 0 ? kLeast : room_;
    while (room < wanted) room *= 2;
    const long made = room_ == 0 ? ::syscall(SYS_mmap, nullptr, room, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                 : ::syscall(SYS_mremap, begin_, room_, room, MREMAP_MAYMOVE);
    if (made == -1) return false;
    begin_ = reinterpret_cast<char*>(made);
    room_ = room;
    return true;
  }
  void unmap() {
    if (room_ == 0) return;
    ::syscall(SYS_munmap, begin_, room_);
    begin_ = nullptr;
    room_ = 0;
  }

  char* begin_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace clump::image
