#include "image/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>
#include <utility>

#include "image/rank_image.h"
#include "image/standard.h"
#include "image/symbols.h"

namespace clump::image::output {
namespace {

/// The longest line that is written as a whole. Longer ones go out in pieces, or in lines of this length if
/// lines have to be whole.
constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kLongestWhole = 1024 * 1024;

/// The file behind descriptor 1 or 2, shared by all ranks.
struct Sink {
  std::mutex lock;
  const Stream* open_line = nullptr;  ///< the stream whose partial line was the last thing written
};

Sink sinks[2];
std::atomic<bool> has_started{false};
std::atomic<bool> has_finished{false};
FILE* streams[2];
Tags tags;
std::atomic<FailureHook> failure_hook{nullptr};

std::mutex list_lock;
RankOutput* list = nullptr;

void note_failure(const fiber::Identity& rank, int descriptor, int error) {
  const FailureHook hook = failure_hook.load(std::memory_order_relaxed);  // relaxed: set before any rank runs
  if (hook != nullptr) hook(rank, descriptor, error);
  errno = error;
}

/// Writes by the system call itself: write() is interposed.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const long written = syscall(SYS_write, descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wait{descriptor, POLLOUT, 0};
      (void)poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// Writes to what the rank has as its stdout or stderr.
bool print(RankOutput& output, int descriptor, std::string_view text) {
  const standard::Place place = standard::place_of_standard(descriptor);
  if (place.stream > 0) return output.stream(place.stream).append(text);
  if (place.real < 0) {
    errno = EBADF;
    return false;
  }
  Stream& own = output.own(descriptor);
  return own.append_to(place.real, text) && (descriptor != STDERR_FILENO || own.end());
}

template <int kDescriptor>
ssize_t write_cookie(void*, const char* text, std::size_t bytes) {
  RankOutput& output = current_image().output();
  output.orientation[kDescriptor].decide(-1);
  if (print(output, kDescriptor, {text, bytes})) return static_cast<ssize_t>(bytes);
  output.failed[kDescriptor] = true;
  return 0;  // 0 means failure to the C library
}

template <int kDescriptor>
FILE* open_stream() {
  cookie_io_functions_t functions{};
  functions.write = write_cookie<kDescriptor>;
  FILE* file = fopencookie(nullptr, "w", functions);
  if (file != nullptr) {
    static constinit Hidden<int(FILE*, char*, int, std::size_t)> real{"setvbuf"};
    (*real)(file, nullptr, _IONBF, 0);
  }
  return file;
}

}  // namespace

void start() {
  streams[0] = open_stream<1>();
  streams[1] = open_stream<2>();
  if (streams[0] == nullptr || streams[1] == nullptr) return;
  stdout = streams[0];
  stderr = streams[1];
  has_started.store(true, std::memory_order_release);  // release: pairs with acquire in started()
}

void note_failure(int descriptor, int error) {
  if (const fiber::Identity* const rank = fiber::identity()) note_failure(*rank, descriptor, error);
}

void set_failure_hook(FailureHook hook) { failure_hook.store(hook, std::memory_order_relaxed); }

void set_tags(const Tags& chosen) { tags = chosen; }

bool started() { return has_started.load(std::memory_order_acquire); }  // acquire: pairs with start()

FILE* stream_of(int descriptor) { return streams[descriptor - 1]; }

int descriptor_of(const FILE* file) {
  if (!started() || file == nullptr) return 0;
  return file == streams[0] ? STDOUT_FILENO : file == streams[1] ? STDERR_FILENO : 0;
}

std::string Stream::tag() const {
  if (rank_->launch == 0) return fmt::format("{}{}{}", tags.before, rank_->rank, tags.after);
  if (tags.whole_lines) return {};  // their reader knows ranks of launch 0 only
  return fmt::format("{}{}:{}{}", tags.before, rank_->launch, rank_->launch_rank, tags.after);
}

std::string Stream::tagged(std::string_view text, bool goes_on) const {
  std::string out;
  for (bool at_begin = !goes_on; !text.empty(); at_begin = true) {
    if (at_begin) out.append(tag());
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    out.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

bool Stream::keeps_lines_whole() const { return tags.whole_lines && !redirected_; }

bool Stream::goes_straight_out() const { return !redirected_ && copy_ < 0 && tags.before.empty(); }

bool Stream::write_out(std::string_view text) {
  if (text.empty()) return true;
  if (copy_ >= 0) tell(write_all(copy_, text));
  return tell(redirected_ ? write_all(descriptor_, text) : write_straight(text));
}

/// Returns `written`, whether the text was written, and reports a failure, with errno.
bool Stream::tell(bool written) {
  if (!written && !is_own_ && rank_ != nullptr) note_failure(*rank_, number_, errno);
  return written;
}

bool Stream::write_straight(std::string_view text) {
  Sink& sink = sinks[descriptor_ - 1];
  const std::scoped_lock lock(sink.lock);
  const bool goes_on = sink.open_line == this;
  if (sink.open_line != nullptr && !goes_on) write_all(descriptor_, "\n");
  sink.open_line = text.back() != '\n' ? this : nullptr;
  if (tags.before.empty() || rank_ == nullptr) return write_all(descriptor_, text);
  return write_all(descriptor_, tagged(text, goes_on));
}

bool Stream::write_partial() {
  if (keeps_lines_whole() && !partial_.empty() && !partial_.ends_with('\n')) partial_ += '\n';
  const std::string rest = std::move(partial_);
  partial_.clear();
  return write_out(rest);
}

bool Stream::append(std::string_view text) {
  const std::scoped_lock lock(lock_);
  if (has_finished.load(std::memory_order_relaxed)) {  // relaxed: set when one thread is left
    partial_.append(text);
    return write_partial();
  }
  const std::size_t last = text.rfind('\n');
  if (last == std::string_view::npos) {
    partial_.append(text);
    return partial_.size() < (keeps_lines_whole() ? kLongestWhole : kLongestLine) || write_partial();
  }
  const std::string_view lines = text.substr(0, last + 1);
  bool good = false;
  if (partial_.empty()) {
    good = write_out(lines);
  } else {
    partial_.append(lines);
    good = write_out(partial_);
    partial_.clear();
  }
  partial_.append(text.substr(last + 1));
  return good;
}

bool Stream::flush() {
  const std::scoped_lock lock(lock_);
  return keeps_lines_whole() || write_partial();
}

std::size_t Stream::pending() {
  const std::scoped_lock lock(lock_);
  return partial_.size();
}

void Stream::discard() {
  const std::scoped_lock lock(lock_);
  partial_.clear();
}

bool Stream::end() {
  const std::scoped_lock lock(lock_);
  return write_partial();
}

void Stream::flush_if_free() {
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock.owns_lock() || partial_.empty()) return;
  // The line will not be continued, so it is ended here: what mpiexec prints next begins a new line.
  if (!redirected_) partial_ += '\n';
  write_out(partial_);
  partial_.clear();
}

void Stream::end_if_free() {
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (lock.owns_lock()) write_partial();
}

bool Stream::append_to(int descriptor, std::string_view text) {
  {
    const std::scoped_lock lock(lock_);
    descriptor_ = descriptor;
    redirected_ = true;
  }
  return append(text);
}

void Stream::redirect(int descriptor) {
  end();
  const std::scoped_lock lock(lock_);
  if (redirected_) close(descriptor_);
  if (copy_ >= 0) close(std::exchange(copy_, -1));
  descriptor_ = descriptor;
  redirected_ = true;
}

RankOutput::RankOutput(const fiber::Identity* rank)
    : standard_(rank, 1), error_(rank, 2), own_standard_(rank, 1, true), own_error_(rank, 2, true) {
  const std::scoped_lock lock(list_lock);
  next_ = list;
  list = this;
}

RankOutput::~RankOutput() {
  const std::scoped_lock lock(list_lock);
  for (RankOutput** link = &list; *link != nullptr; link = &(*link)->next_) {
    if (*link == this) {
      *link = next_;
      return;
    }
  }
}

bool RankOutput::flush() {
  bool good = true;
  for (Stream* stream : all()) good = stream->flush() && good;
  return good;
}

bool RankOutput::end() {
  bool good = true;
  for (Stream* stream : all()) good = stream->end() && good;
  return good;
}

void hold() {
  for (Stream* stream : current_image().output().all()) stream->lock_.lock();
  for (Sink& sink : sinks) sink.lock.lock();
}

void let_go() {
  for (Sink& sink : sinks) sink.lock.unlock();
  for (Stream* stream : current_image().output().all()) stream->lock_.unlock();
}

void let_go_in_child() {
  RankOutput& mine = current_image().output();
  let_go();
  new (&list_lock) std::mutex;  // a thread that is not in this child may hold the old one
  mine.next_ = nullptr;
  list = &mine;
}

void finish() {
  const std::scoped_lock lock(list_lock);
  for (RankOutput* output = list; output != nullptr; output = output->next_) (void)output->end();
  has_finished.store(true, std::memory_order_relaxed);  // relaxed: see append()
}

void flush_all() {
  const std::unique_lock lock(list_lock, std::try_to_lock);
  if (!lock.owns_lock()) return;
  for (RankOutput* output = list; output != nullptr; output = output->next_) {
    for (Stream* stream : output->all()) stream->flush_if_free();
  }
}

}  // namespace clump::image::output
