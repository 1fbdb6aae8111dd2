#include "output/held_output.h"

#include <unistd.h>

#include <utility>

#include "output/lines.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {

namespace {

/// So much is held before ranks have begun. PRRTE's explanations are shorter. prterun may tell that ranks
/// have begun only after what they have written by then, and keeps in memory whatever is not read.
constexpr std::size_t kLongestExplanation = 64 << 10;
constexpr std::size_t kPipe = 1 << 20;  ///< a pipe has no more in it
/// No more is read in one turn of mpiexec's loop. prterun may write as fast as mpiexec reads: ranks that
/// write without end, and a reader that takes all, or has gone and takes nothing.
constexpr std::size_t kMostInATurn = 1 << 20;

}  // namespace

bool HeldOutput::has_room() const { return !is_released_ || !output_buffer(STDOUT_FILENO).is_full(); }

void HeldOutput::add_to(tools::PollSet& all) const {
  if (has_room()) all.add(in_);
}

void HeldOutput::transfer() {
  std::size_t got = 0;
  for (std::size_t more; got < kMostInATurn && has_room() && (more = read()) > 0; got += more) write();
  write();
}

void HeldOutput::finish() {
  // Daemons may keep the pipe open: what is in it is all that is waited for.
  std::size_t got = 0;
  for (std::size_t more; got < kPipe && (more = read()) > 0; got += more) write();
  write();
}

std::size_t HeldOutput::read() {
  char bytes[64 << 10];
  const ssize_t got = in_ >= 0 ? ::read(in_, bytes, sizeof bytes) : -1;
  if (got == 0) ::close(std::exchange(in_, -1));
  if (got <= 0) return 0;
  held_.append(bytes, static_cast<std::size_t>(got));
  is_released_ = is_released_ || held_.size() > kLongestExplanation;
  return static_cast<std::size_t>(got);
}

void HeldOutput::write() {
  if (!is_released_) return;
  if (lines_ != nullptr)
    lines_->add(held_, LineForwarder::Clock::now());
  else
    output_buffer(STDOUT_FILENO).put(held_);
  held_.clear();
}

int HeldOutput::error() { return output_buffer(STDOUT_FILENO).error(); }

}  // namespace clump::mpiexec
