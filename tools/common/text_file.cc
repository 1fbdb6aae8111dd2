#include "common/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

namespace clump::tools {

namespace {

/// No text of a user is as long as that; a device may have no end.
constexpr std::size_t kMostOfText = 64 << 20;
/// So long a FIFO may have no writer.
constexpr std::chrono::milliseconds kWaitForWriter{5000};

class TextReader {
 public:
  explicit TextReader(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
  TextReader(const TextReader&) = delete;
  TextReader& operator=(const TextReader&) = delete;
  ~TextReader() {
    if (file_ >= 0) ::close(file_);
  }

  bool read(std::string& text, std::string& why) {
    struct stat info {};
    if (file_ < 0 || ::fstat(file_, &info) != 0) return fails(errno, why);
    if (S_ISDIR(info.st_mode)) return fails(EISDIR, why);
    is_fifo_ = S_ISFIFO(info.st_mode) && !is_pipe();
    if (is_fifo_ && info.st_uid != ::geteuid()) {
      why = fmt::format("it is a FIFO of another user (uid {})", info.st_uid);
      return false;
    }
    for (std::array<char, 1 << 16> piece;;) {
      const ssize_t got = ::read(file_, piece.data(), piece.size());
      if (got > 0) {
        has_writer_ = true;
        text.append(piece.data(), static_cast<std::size_t>(got));
        if (text.size() > kMostOfText) return fails(EFBIG, why);
      } else if (got == 0 && (!is_fifo_ || has_writer_)) {
        return true;
      } else if (got == 0) {  // or its writer is about to open it
        if (!wait(kWaitForWriter)) {
          why = "it is a FIFO to which nothing is written";
          return false;
        }
        has_writer_ = true;
      } else if (errno == EAGAIN) {
        has_writer_ = true;
        wait(std::chrono::milliseconds(-1));
      } else if (errno != EINTR) {
        return fails(errno, why);
      }
    }
  }

 private:
  static bool fails(int error, std::string& why) {
    why = std::strerror(error);
    return false;
  }
  /// One without a name in a file system: it has come from the process that started this one.
  bool is_pipe() const {
    struct statfs system {};
    return ::fstatfs(file_, &system) == 0 && system.f_type == PIPEFS_MAGIC;
  }
  /// For something to read, or for the end.
  bool wait(std::chrono::milliseconds time) const {
    pollfd one{file_, POLLIN, 0};
    return ::poll(&one, 1, static_cast<int>(time.count())) > 0;
  }

  const int file_;
  bool is_fifo_ = false;
  bool has_writer_ = false;  ///< it has, or has had one
};

}  // namespace

bool read_file(const std::string& path, std::string& text, std::string& why) {
  text.clear();
  return TextReader(path).read(text, why);
}

}  // namespace clump::tools
