#include "keys/invitation.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "base/random.h"
#include "base/why_refused.h"
#include "common/output.h"
#include "common/places.h"

namespace clump::mpiexec {

namespace {

constexpr const char *kFile = "/key", *kNew = ".new";
constexpr std::size_t kMostBytes = 16 << 10;  ///< of the file
constexpr std::size_t kMostTyped = 200;
constexpr std::chrono::milliseconds kLateFile{5000}, kLook{100};
constexpr char kInterrupt = 3, kEndOfInput = 4, kDelete = 127, kBackspace = 8;

/// False: errno says why.
bool write_new(const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  const int why = errno;
  // A network file system may tell only then that the disk is full.
  if (::close(file) != 0) return false;
  errno = why;
  return bytes.empty();
}

/// -1: errno says why.
int open_late_file(const std::string& path) {
  // Not a link to another place, and no FIFO, which would be waited for.
  constexpr int kHow = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int file = ::open(path.c_str(), kHow);
  for (auto left = kLateFile; file < 0 && errno == ENOENT && left.count() > 0; left -= kLook) {
    std::this_thread::sleep_for(kLook);
    file = ::open(path.c_str(), kHow);
  }
  return file;
}

/// Turns echo and lines off, and on again in the end.
class QuietTerminal {
 public:
  QuietTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
    is_quiet_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
  }
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;
  ~QuietTerminal() {
    if (is_quiet_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }

 private:
  termios before_{};
  bool is_quiet_ = false;
};

/// Ctrl-C, Ctrl-D and the key that deletes work as usual. False: Ctrl-C.
bool read_line(std::string& line) {
  const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
  for (char byte = 0; line.size() < kMostTyped;) {
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || byte == '\n' || byte == '\r') return true;
    if (is_terminal && byte == kInterrupt) return false;
    if (is_terminal && byte == kEndOfInput) return true;
    if (!is_terminal || (byte != kDelete && byte != kBackspace))
      line.push_back(byte);
    else if (!line.empty())
      line.pop_back();
  }
  return true;
}

}  // namespace

std::string text_of(const Invitation& invitation) {
  return fmt::format("{}@{}", fmt::join(invitation.addresses, ","), invitation.port);
}

base::Status parse(std::string_view text, Invitation& invitation) {
  const std::size_t at = text.rfind('@');
  const std::string_view port = at == text.npos ? std::string_view() : text.substr(at + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), invitation.port);
  if (error != std::errc() || end != port.data() + port.size() || invitation.port < 1 ||
      invitation.port > 65535)
    return base::fail(MPI_ERR_ARG, "'{}' is not where mpiexec is: ADDRESS,...@PORT is needed", text);
  invitation.addresses.clear();
  for (std::string_view rest = text.substr(0, at); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    if (!one.empty()) invitation.addresses.emplace_back(one);
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  if (invitation.addresses.empty())
    return base::fail(MPI_ERR_ARG, "'{}' has no address: ADDRESS,...@PORT is needed", text);
  return {};
}

void KeyFile::choose() {
  const char* const home = std::getenv("HOME");
  const bool is_usable = home != nullptr && home[0] == '/' && ::access(home, W_OK | X_OK) == 0;
  folder_ = fmt::format("{}/.clump-key-{:016x}", is_usable ? home : tools::current_directory(),
                        base::random_number());
}

base::Status KeyFile::write(const Key& key, const Invitation& invitation) {
  if (::mkdir(folder_.c_str(), 0700) != 0) {
    const std::string why = base::why_refused("mkdir", errno);
    return base::fail(
        MPI_ERR_SPAWN,
        "cannot make the folder {} for the job's key: {}; set HOME to a folder of yours that all hosts see",
        std::exchange(folder_, {}), why);
  }
  // A proxy that looks for it already sees all of it, or nothing.
  const std::string new_path = path() + kNew;
  std::string text = key.text() + " " + text_of(invitation) + "\n";
  const bool is_written = write_new(new_path, text) && ::rename(new_path.c_str(), path().c_str()) == 0;
  const int why = errno;
  wipe(text);
  if (is_written) return {};
  return base::fail(MPI_ERR_SPAWN, "cannot write the job's key to {}: {}", path(),
                    base::why_refused("write", why));
}

std::string KeyFile::path() const { return folder_ + kFile; }

void KeyFile::remove() {
  if (folder_.empty()) return;
  ::unlink(path().c_str());
  ::unlink((path() + kNew).c_str());
  ::rmdir(folder_.c_str());
  folder_.clear();
}

base::Status read_key_file(const std::string& path, std::optional<Key>& key, Invitation& invitation) {
  const int file = open_late_file(path);
  if (file < 0)
    return base::fail(
        MPI_ERR_SPAWN,
        "cannot open {}, where the job's key is: {}; the home folder, or the folder in which mpiexec was "
        "started, has to be the same on all hosts",
        path, std::strerror(errno));
  struct stat about {};
  const bool is_own = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() &&
                      (about.st_mode & 077) == 0;
  std::string text(kMostBytes, '\0');
  const ssize_t got = is_own ? ::pread(file, text.data(), text.size(), 0) : -1;
  ::close(file);
  if (!is_own)
    return base::fail(MPI_ERR_SPAWN, "{} is not a file of this user alone: its key is not used", path);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  const std::size_t blank = text.find(' ');
  const std::size_t end = text.find('\n');
  const bool is_whole = blank != text.npos && end != text.npos && blank < end;
  if (is_whole) key = Key::from_text(std::string_view(text).substr(0, blank));
  const std::string where = is_whole ? text.substr(blank + 1, end - blank - 1) : std::string();
  wipe(text);
  if (!key) return base::fail(MPI_ERR_SPAWN, "{} has no key of a job", path);
  return parse(where, invitation);
}

base::Status read_key(std::optional<Key>& key) {
  std::string line;
  bool is_interrupted = false;
  if (::isatty(STDIN_FILENO) != 0) {
    tools::print_error("mpiexec: the job's key: ");
    const QuietTerminal quiet;
    is_interrupted = !read_line(line);
  } else {
    (void)!read_line(line);
  }
  if (::isatty(STDIN_FILENO) != 0) tools::print_error("\n");
  key = Key::from_text(line);
  wipe(line);
  if (is_interrupted) ::raise(SIGINT);
  if (!key)
    return base::fail(MPI_ERR_ARG,
                      "this is not a job's key, which has {} hexadecimal digits: mpiexec shows it",
                      2 * Key::kBytes);
  return {};
}

}  // namespace clump::mpiexec
