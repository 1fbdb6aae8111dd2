// The mappings of this process, for handlers of fatal signals. Not for other layers.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace clump::host {

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  bool accessible = false;
  bool is_shared_by_us = false;  ///< memory that processes of the job have in common
};

/// Reads /proc/self/maps, "begin-end rwxp ..." in the order of addresses. Uses neither heap nor locks.
class Mappings {
 public:
  Mappings()
      : file_(static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC))) {}
  ~Mappings() {
    if (file_ >= 0) ::syscall(SYS_close, file_);
  }
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;

  bool next(Mapping& found) {
    found = {};
    char letter = 0;
    if (!number(found.begin, '-') || !number(found.end, ' ')) return false;
    if (!get(letter)) return false;
    found.accessible = letter == 'r';
    static constexpr char kOurs[] = "/memfd:clump ";
    std::size_t same = 0;
    while (letter != '\n') {
      if (kOurs[same] != '\0') same = letter == kOurs[same] ? same + 1 : 0;
      if (!get(letter)) return false;
    }
    found.is_shared_by_us = kOurs[same] == '\0';
    return true;
  }

 private:
  bool get(char& letter) {
    if (at_ == size_) {
      const long got = file_ < 0 ? -1 : ::syscall(SYS_read, file_, buffer_, sizeof buffer_);
      if (got <= 0) return false;
      at_ = 0;
      size_ = static_cast<std::size_t>(got);
    }
    letter = buffer_[at_++];
    return true;
  }

  bool number(std::uintptr_t& value, char behind) {
    for (char letter = 0; get(letter);) {
      if (letter == behind) return true;
      value = value << 4 | static_cast<std::uintptr_t>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
    }
    return false;
  }

  int file_;
  std::size_t at_ = 0, size_ = 0;
  char buffer_[2048];
};

}  // namespace clump::host
