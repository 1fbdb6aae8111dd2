#include "cluster/launcher_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/why_refused.h"
#include "common/launchers.h"
#include "diag/report.h"

namespace clump::mpiexec {

namespace {

constexpr std::size_t kMostKept = 16 << 10;              ///< bytes of what a launcher says: the end
constexpr std::size_t kMostShown = 600;                  ///< the same, in a report
constexpr std::chrono::milliseconds kSoon{1000};         ///< so long may a launcher take to fail
constexpr std::chrono::milliseconds kRestOfStream{500};  ///< what is in its pipe has come by then

/// As one line.
std::string last_lines(std::string_view text) {
  std::string line(text.substr(text.size() - std::min(text.size(), kMostShown)));
  line.erase(line.find_last_not_of(" \r\n") + 1);
  line.erase(0, line.find_first_not_of(" \r\n"));
  std::erase(line, '\r');
  for (std::size_t end; (end = line.find('\n')) != line.npos;) line.replace(end, 1, "; ");
  return line.empty() ? "it says nothing" : line;
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by {}", diag::signal_name(WTERMSIG(status)));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

LauncherLine::~LauncherLine() {
  if (errors_ >= 0) ::close(errors_);
}

base::Status LauncherLine::prepare(Process& launcher) {
  int in[2], out[2], errors[2];
  for (int(*pipe)[2] : {&in, &out, &errors})
    if (::pipe2(*pipe, O_CLOEXEC) != 0)
      return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
  launcher.in = in[0];
  launcher.out = out[1];
  launcher.err = errors[1];
  stream_.open(out[0], in[1]);
  stream_.expect_greeting();
  errors_ = errors[0];
  ::fcntl(errors_, F_SETFL, O_NONBLOCK);
  return {};
}

base::Status LauncherLine::prepare_for_connection(Process& launcher) {
  int words[2];
  if (::pipe2(words, O_CLOEXEC) != 0)
    return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
  has_stream_ = false;
  launcher.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  launcher.out = words[1];
  launcher.err = ::fcntl(words[1], F_DUPFD_CLOEXEC, 3);
  errors_ = words[0];
  ::fcntl(errors_, F_SETFL, O_NONBLOCK);
  return {};
}

void LauncherLine::join(int socket, Seal seal) {
  has_stream_ = true;
  stream_.open(socket, socket);
  stream_.protect(std::move(seal));
  stream_.expect_greeting();
}

void LauncherLine::add_own_to(std::vector<int>& descriptors) const {
  for (const int one : {stream_.in(), stream_.out(), errors_})
    if (one >= 0) descriptors.push_back(one);
}

void LauncherLine::add_to(tools::PollSet& all) const {
  stream_.add_to(all);
  all.add(errors_);
}

void LauncherLine::transfer(const std::function<bool(const Frame&)>& take) {
  stream_.transfer();
  if (is_there_) stream_.keep_alive(number_);
  for (Frame frame; !breaks_rules_ && stream_.receive(frame);) breaks_rules_ = !take(frame);
  stream_.flush();
  read_words();
  has_just_come_ = false;
  is_silent_ = is_silent_ || stream_.silence() >= kPatience;
  if (!ended_at_ && (has_ended() || launcher_status_)) ended_at_ = Clock::now();
}

void LauncherLine::pause() {
  if (!is_there_) return;
  stream_.send({number_, Channel::kControl, Frame::Kind::kPause, {}});
  stream_.flush();
}

bool LauncherLine::take_greeting() {
  if (is_there_ || !stream_.is_greeted() || stream_.version().empty()) return false;
  return is_there_ = has_just_come_ = true;
}

void LauncherLine::read_words() {
  char bytes[4096];
  while (errors_ >= 0) {
    const ssize_t got = ::read(errors_, bytes, sizeof bytes);
    if (got == 0) ::close(std::exchange(errors_, -1));
    if (got <= 0) return;
    if (shown_ == words_.size()) words_since_ = Clock::now();
    words_.append(bytes, static_cast<std::size_t>(got));
    if (words_.size() <= kMostKept) continue;
    const std::size_t lost = words_.size() - kMostKept;
    words_.erase(0, lost);
    shown_ -= std::min(shown_, lost);
  }
}

std::string LauncherLine::take_words(bool all) {
  const bool is_due =
      shown_ < words_.size() && (all || has_just_come_ || Clock::now() - words_since_ >= kSoon);
  if (!is_due) return {};
  return words_.substr(std::exchange(shown_, words_.size()));
}

bool LauncherLine::is_quiet() const {
  return !is_here_ && !is_there_ && !has_launcher_ended() && words_.empty() && stream_.noise().empty();
}

void LauncherLine::note_launcher_end(int status, int error) {
  launcher_status_ = status;
  cannot_start_ = error;
}

bool LauncherLine::is_lost() {
  if (is_silent_ || breaks_rules_ || stream_.is_damaged()) return true;
  if (!ended_at_) return false;
  if (has_ended() && has_launcher_ended()) return true;
  return Clock::now() - *ended_at_ >= (has_ended() ? kSoon : kRestOfStream);
}

std::string LauncherLine::why_lost(const std::string& launcher) const {
  std::string said = last_lines(words_.empty() ? stream_.noise() : words_);
  if (!has_stream_ && words_.empty()) said = "what the host has said is in the batch job's output";
  const std::string& name = is_here_ ? "its proxy" : launcher;
  if (cannot_start_ != 0)
    return fmt::format("cannot start {}: {}", name, base::why_refused("fork", cannot_start_));
  if (is_silent_)
    return fmt::format("nothing has come from it for {} s: the host or its network is gone",
                       kPatience.count());
  if (breaks_rules_ || stream_.is_damaged()) return "what has come from it is no message of its proxy";
  if (is_there_ || !has_process_) return why_gone(name, said);
  if (!launcher_status_) return fmt::format("{} has closed the connection: {}", name, said);
  const int code = WIFEXITED(*launcher_status_) ? WEXITSTATUS(*launcher_status_) : 0;
  if (code == 0 || is_here_) return fmt::format("{} {}: {}", name, end_of(*launcher_status_), said);
  return tools::why_not_started(launcher, name_, code, said).why;
}

/// The proxy has been there.
std::string LauncherLine::why_gone(const std::string& name, const std::string& said) const {
  if (is_here_ && launcher_status_) return fmt::format("{} {}", name, end_of(*launcher_status_));
  std::string why = "its proxy, or the connection to it, is gone";
  if (!has_process_) return why;
  std::string launcher_end = launcher_status_ ? fmt::format("{} {}", name, end_of(*launcher_status_)) : name;
  if (!words_.empty()) launcher_end += ": " + said;
  return fmt::format("{} ({})", why, launcher_end);
}

void LauncherLine::close() { stream_.close(); }

}  // namespace clump::mpiexec
