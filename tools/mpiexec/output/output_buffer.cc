#include "output/output_buffer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>

#include "base/printable.h"
#include "common/terminal.h"

namespace clump::mpiexec {

namespace {

std::optional<WriteFailure> first_failure;
constexpr std::size_t kMostOfPacket = 1 << 16;

bool may_stand_still(const struct stat& info, int descriptor) {
  return S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) ||
         (S_ISCHR(info.st_mode) && ::isatty(descriptor) != 0);
}

bool are_one_stream(int one, int other) {
  struct stat first {
  }, second{};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino && may_stand_still(first, one);
}

}  // namespace

OutputBuffer::~OutputBuffer() {
  if (own_ >= 0) ::close(own_);
}

// O_NONBLOCK belongs to the open file description, and the shell, the ranks and what stands beside mpiexec in
// a pipeline have the same one: a program that finds its stdout non-blocking loses output. So mpiexec opens a
// pipe or a terminal once more for itself. Where the system does not let it (no /proc, a terminal of another
// user) it writes PIPE_BUF bytes at most, and only when poll() sees room: a pipe takes as much without
// blocking, unless another process fills it in between.
void OutputBuffer::find_way() {
  struct stat info {};
  way_ = Way::kAtOnce;  // files and devices have no reader
  if (::fstat(descriptor_, &info) != 0 || !may_stand_still(info, descriptor_)) return;
  if (S_ISSOCK(info.st_mode)) {
    way_ = Way::kSocket;
    return;
  }
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor_);
  own_ = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  way_ = own_ >= 0 ? Way::kOwn : Way::kPieces;
}

long OutputBuffer::write_some(std::string_view bytes) {
  if (way_ == Way::kUnknown) find_way();
  if (way_ == Way::kSocket)  // in pieces that sockets of packets take, too
    return ::send(descriptor_, bytes.data(), std::min(bytes.size(), kMostOfPacket),
                  MSG_DONTWAIT | MSG_NOSIGNAL);
  if (way_ == Way::kOwn) return ::write(own_, bytes.data(), bytes.size());
  if (way_ == Way::kAtOnce) return ::write(descriptor_, bytes.data(), bytes.size());
  tools::PollSet mine;
  mine.add(descriptor_, POLLOUT);
  if (mine.wait(0)) return ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
  errno = EAGAIN;
  return -1;
}

std::string_view OutputBuffer::write_now(std::string_view bytes) {
  while (!bytes.empty()) {
    const long written = write_some(bytes);
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      if (error_ == 0) error_ = errno;
      // A reader that has gone says more than a full disk: it ends the job.
      if (!first_failure || (errno == EPIPE && first_failure->error != EPIPE))
        first_failure = {descriptor_, errno};
      return {};
    }
  }
  return bytes;
}

void OutputBuffer::put(std::string_view bytes, const void* writer) {
  if (bytes.empty()) return;
  if (open_line_ != nullptr && open_line_ != writer) {
    open_line_ = nullptr;
    put("\n");
  }
  open_line_ = bytes.back() != '\n' ? writer : nullptr;
  write();
  bytes_ += kept() > 0 ? bytes : write_now(bytes);
}

void OutputBuffer::write() {
  if (kept() == 0) return;
  written_ = bytes_.size() - write_now(std::string_view(bytes_).substr(written_)).size();
  if (written_ >= bytes_.size() / 2) {
    bytes_.erase(0, written_);
    written_ = 0;
  }
}

void OutputBuffer::discard() {
  if (kept() > 0) open_line_ = this;
  bytes_.clear();
  written_ = 0;
}

void OutputBuffer::add_to(tools::PollSet& all) const {
  if (kept() > 0) all.add(own_ >= 0 ? own_ : descriptor_, POLLOUT);
}

OutputBuffer& output_buffer(int descriptor) {
  static auto& of_stdout = *new OutputBuffer(STDOUT_FILENO);
  static auto& of_stderr =
      are_one_stream(STDOUT_FILENO, STDERR_FILENO) ? of_stdout : *new OutputBuffer(STDERR_FILENO);
  return descriptor == STDOUT_FILENO ? of_stdout : of_stderr;
}

std::vector<OutputBuffer*> output_buffers() {
  std::vector<OutputBuffer*> all{&output_buffer(STDOUT_FILENO)};
  if (&output_buffer(STDERR_FILENO) != all.front()) all.push_back(&output_buffer(STDERR_FILENO));
  return all;
}

void write_error(const std::string& text) { output_buffer(STDERR_FILENO).put(base::printable(text)); }

std::string as_word(const std::string& text) {
  return fmt::format("mpiexec: {}{}", text, text.ends_with('\n') ? "" : "\n");
}

std::string as_shown(const std::string& word, Word kind) {
  const std::string text = base::printable(word);
  const auto fitted = [](std::string_view part) { return tools::fit_terminal(part, STDERR_FILENO); };
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string first = fitted(std::string_view(text).substr(0, end));
  const bool stands_out = kind == Word::kTrouble && tools::has_color(STDERR_FILENO);
  return (stands_out ? tools::emphasized(first) : first) + fitted(std::string_view(text).substr(end));
}

void say(const std::string& text, Word kind) {
  output_buffer(STDERR_FILENO).put(as_shown(as_word(text), kind));
}

const WriteFailure* write_failure() { return first_failure ? &*first_failure : nullptr; }

void block_signals_of_writes() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGPIPE);
  sigaddset(&both, SIGXFSZ);
  ::sigprocmask(SIG_BLOCK, &both, nullptr);
}

}  // namespace clump::mpiexec
