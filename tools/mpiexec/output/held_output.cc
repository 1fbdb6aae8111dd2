#include "output/held_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include "common/poll_set.h"
#include "output/lines.h"

namespace clump::mpiexec {

namespace {

constexpr std::size_t kMost = 1 << 20;  ///< so much is held; ranks that write more wait
/// PRRTE's explanations are shorter. prterun may tell that ranks have begun only after what they have written
/// by then, and keeps in memory whatever is not read.
constexpr std::size_t kLongestExplanation = 64 << 10;

bool is_writable(int milliseconds) {
  tools::PollSet mine;
  mine.add(STDOUT_FILENO, POLLOUT);
  return mine.wait(milliseconds);
}

}  // namespace

void HeldOutput::add_to(tools::PollSet& all) const {
  if (held_.size() < kMost) all.add(in_);
  if (is_released_ && !held_.empty()) all.add(STDOUT_FILENO, POLLOUT);
}

void HeldOutput::transfer() {
  read();
  if (is_released_) write(false);
}

void HeldOutput::finish() {
  // Daemons may keep the pipe open: what is in it is all that is waited for.
  for (;;) {
    read();
    if (!is_released_ || held_.empty()) return;
    write(true);
  }
}

void HeldOutput::read() {
  char bytes[64 << 10];
  while (in_ >= 0 && held_.size() < kMost) {
    const ssize_t got = ::read(in_, bytes, sizeof bytes);
    if (got > 0) {
      held_.append(bytes, static_cast<std::size_t>(got));
      is_released_ = is_released_ || held_.size() > kLongestExplanation;
    } else {
      if (got == 0) ::close(std::exchange(in_, -1));
      return;
    }
  }
}

void HeldOutput::write(bool waits) {
  std::string_view left = held_;
  if (lines_ != nullptr) {
    lines_->add(left);
    left = {};
  }
  // A pipe that is writable takes as much without blocking.
  while (!left.empty() && error_ == 0 && is_writable(waits ? -1 : 0)) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), std::min<std::size_t>(left.size(), PIPE_BUF));
    if (written > 0)
      left.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EAGAIN && errno != EINTR)
      error_ = errno;
  }
  if (error_ != 0) left = {};  // it is lost
  held_.erase(0, held_.size() - left.size());
}

}  // namespace clump::mpiexec
