#include "output/lines.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "common/poll_set.h"
#include "output/collapse.h"

namespace clump::mpiexec {

namespace {

constexpr std::size_t kLongestLine = 1 << 20;  // a longer one is written in pieces

std::optional<WriteFailure> first_failure;

}  // namespace

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      tools::PollSet mine;
      mine.add(descriptor, POLLOUT);
      mine.wait(-1);
    } else if (errno != EINTR) {
      if (!first_failure) first_failure = {descriptor, errno};
      return;
    }
  }
}

const WriteFailure* write_failure() { return first_failure ? &*first_failure : nullptr; }

void block_signals_of_writes() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGPIPE);
  sigaddset(&both, SIGXFSZ);
  ::sigprocmask(SIG_BLOCK, &both, nullptr);
}

void LineForwarder::add(std::string_view bytes) {
  const std::size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    partial_ += bytes.substr(0, end + 1);
    write_lines(partial_);
    partial_.clear();
    bytes.remove_prefix(end + 1);
  }
  partial_ += bytes;
  if (partial_.size() > kLongestLine) finish();
}

void LineForwarder::finish() {
  if (partial_.empty()) return;
  if (!prefix_.empty()) partial_ += '\n';
  write_lines(partial_);
  partial_.clear();
}

void LineForwarder::write_lines(std::string_view lines) {
  if (target_.copy >= 0) write_all(target_.copy, lines);
  std::string tagged;
  while (!prefix_.empty() && !lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end == std::string_view::npos ? lines.size() : end + 1);
    tagged.append(prefix_).append(line);
    lines.remove_prefix(line.size());
  }
  const std::string_view shown = prefix_.empty() ? lines : std::string_view(tagged);
  if (target_.screen != nullptr) return target_.screen->add(target_.descriptor, shown);
  write_all(target_.descriptor, shown);
}

}  // namespace clump::mpiexec
