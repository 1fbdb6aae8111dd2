#include "process/files/output.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/standard.h"
#include "process/rank_state.h"

namespace clump::image::output {
namespace {

/// The longest line that is written as a whole. Longer ones go out in pieces, or in lines of this length if
/// lines have to be whole.
constexpr std::size_t kLongestLine = 64 * 1024;
constexpr std::size_t kLongestWhole = 1024 * 1024;

/// The file behind descriptor 1 or 2, shared by all ranks.
struct Sink {
  ForkMutex lock;
  const Stream* open_line = nullptr;  ///< the stream whose partial line was the last thing written
};

Sink sinks[2];
std::atomic<bool> has_started{false};
std::atomic<bool> has_finished{false};
FILE* streams[2];
base::LinePrefix prefix;
bool keeps_whole_lines = false;
std::atomic<FailureHook> failure_hook{nullptr};

constinit ForkMutex list_lock;
RankOutput* list = nullptr;

void note_failure(const fiber::Identity& rank, int descriptor, int error) {
  const FailureHook hook = failure_hook.load(std::memory_order_relaxed);  // relaxed: set before any rank runs
  if (hook != nullptr) hook(rank, descriptor, error);
  errno = error;
}

/// After a system call that has failed to write: waits until the descriptor takes more. False if it never
/// will. A signal that comes while the thread waits for a reader has its handler run here, because it may be
/// the end of the rank; the handler finds the stream's lock held by its own thread (Held).
bool may_write_again(int descriptor) {
  if (errno == EINTR) {
    const signals::LetHandlers let;
    return true;
  }
  if (errno != EAGAIN) return false;
  pollfd wait{descriptor, POLLOUT, 0};
  syscall(SYS_ppoll, &wait, 1, nullptr, nullptr, 0);
  return true;
}

/// Writes by the system call itself, here and below: write() is interposed.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const long written = syscall(SYS_write, descriptor, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (!may_write_again(descriptor))
      return false;
  }
  return true;
}

bool write_all(int descriptor, std::span<iovec> parts) {
  while (!parts.empty()) {
    const long result = syscall(SYS_writev, descriptor, parts.data(), parts.size());
    if (result < 0 && !may_write_again(descriptor)) return false;
    auto written = static_cast<std::size_t>(result < 0 ? 0 : result);
    while (!parts.empty() && written >= parts.front().iov_len) {
      written -= parts.front().iov_len;
      parts = parts.subspan(1);
    }
    if (parts.empty()) break;
    parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + written;
    parts.front().iov_len -= written;
  }
  return true;
}

/// What is in front of a rank's lines.
std::size_t write_prefix(const fiber::Identity& rank, std::span<char, base::LinePrefix::kLongestLine> to) {
  if (rank.launch != 0 && keeps_whole_lines) return 0;  // their reader knows ranks of launch 0 only
  return prefix.write(to, rank.launch, rank.launch == 0 ? rank.rank : rank.launch_rank);
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
  RankOutput& output = current_image().state().output;
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

void set_prefix(const base::LinePrefix& chosen, bool whole_lines) {
  prefix = chosen;
  keeps_whole_lines = whole_lines;
}

bool started() { return has_started.load(std::memory_order_acquire); }  // acquire: pairs with start()

int descriptor_of(const FILE* file) {
  if (!started() || file == nullptr) return 0;
  if (file == streams[0]) return STDOUT_FILENO;
  return file == streams[1] ? STDERR_FILENO : current_image().state().output.descriptor_of(file);
}

bool Stream::keeps_lines_whole() const { return keeps_whole_lines && !redirected_; }

bool Stream::goes_straight_out() const { return !redirected_ && copy_ < 0 && prefix.is_empty(); }

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
  if (prefix.is_empty() || rank_ == nullptr) return write_all(descriptor_, text);
  return write_prefixed(text, goes_on);
}

/// Writes lines with their prefix, many with one system call. `goes_on`: the first one has it already.
bool Stream::write_prefixed(std::string_view text, bool goes_on) {
  char begin[base::LinePrefix::kLongestLine];
  const iovec own{begin, write_prefix(*rank_, begin)};
  iovec parts[64];
  std::size_t count = 0;
  for (bool at_begin = !goes_on; !text.empty(); at_begin = true) {
    if (at_begin) parts[count++] = own;
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    parts[count++] = {const_cast<char*>(text.data()), length};
    text.remove_prefix(length);
    if (count + 2 <= std::size(parts) && !text.empty()) continue;
    if (!write_all(descriptor_, std::span(parts, count))) return false;
    count = 0;
  }
  return true;
}

bool Stream::write_partial() {
  if (keeps_lines_whole() && !partial_.empty() && !partial_.text().ends_with('\n'))
    (void)partial_.append("\n");
  const bool good = write_out(partial_.text());
  partial_.clear();
  return good;
}

/// Adds to the partial line. If there is no memory, all of it is written now.
bool Stream::keep(std::string_view text) {
  return partial_.append(text) || (write_partial() && write_out(text));
}

bool Stream::append(std::string_view text) {
  const Held held(*this);
  if (held.is_nested()) return tell(write_all(descriptor_, text));
  // relaxed: set when one thread is left
  if (has_finished.load(std::memory_order_relaxed)) return keep(text) && write_partial();
  const std::size_t last = text.rfind('\n');
  if (last == std::string_view::npos)
    return keep(text) &&
           (partial_.size() < (keeps_lines_whole() ? kLongestWhole : kLongestLine) || write_partial());
  const std::string_view lines = text.substr(0, last + 1);
  const bool good = partial_.empty() ? write_out(lines) : keep(lines) && write_partial();
  return keep(text.substr(last + 1)) && good;
}

bool Stream::flush() {
  const Held held(*this);
  if (held.is_nested()) return true;
  return keeps_lines_whole() || write_partial();
}

std::size_t Stream::pending() {
  const Held held(*this);
  return held.is_nested() ? 0 : partial_.size();
}

void Stream::discard() {
  const Held held(*this);
  if (!held.is_nested()) partial_.clear();
}

bool Stream::end() {
  const Held held(*this);
  return held.is_nested() || write_partial();
}

void Stream::flush_if_free() {
  const Held held(*this, std::try_to_lock);
  if (!held.is_held() || partial_.empty()) return;
  // The line will not be continued, so it is ended here: what mpiexec prints next begins a new line.
  if (!redirected_) (void)partial_.append("\n");
  write_out(partial_.text());
  partial_.clear();
}

void Stream::end_if_free() {
  const Held held(*this, std::try_to_lock);
  if (held.is_held()) write_partial();
}

bool Stream::append_to(int descriptor, std::string_view text) {
  {
    const Held held(*this);
    descriptor_ = descriptor;
    redirected_ = true;
  }
  return append(text);
}

void Stream::redirect(int descriptor) {
  end();
  const Held held(*this);
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
  static constinit Hidden<int(FILE*)> close{"fclose"};
  for (FILE* const file : files_)
    if (file != nullptr) close(file);
  const std::scoped_lock lock(list_lock);
  for (RankOutput** link = &list; *link != nullptr; link = &(*link)->next_) {
    if (*link == this) {
      *link = next_;
      return;
    }
  }
}

FILE* RankOutput::make_file(int descriptor) {
  FILE* const file = descriptor == 1 ? open_stream<1>() : open_stream<2>();
  files_[descriptor - 1] = file;
  return file;
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

void keep_own_after_fork() {
  RankOutput& mine = current_image().state().output;
  // A letter that another rank was writing at this moment: the end of the child would write it.
  static constinit Hidden<void(FILE*)> purge{"__fpurge"};
  for (const RankOutput* output = list; output != nullptr; output = output->next_) {
    for (FILE* const file : output->files_)
      if (output != &mine && file != nullptr) purge(file);
  }
  if (started() && !current_image().native())
    for (FILE* const file : streams) purge(file);
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
