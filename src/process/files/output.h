// Output of ranks, line by line. Whatever a rank writes to stdout or stderr, in whatever pieces, goes to the
// descriptor in whole lines, each with one write(2), so that lines of different ranks never mix. A partial
// line goes out when the rank flushes or ends; if a line of another rank comes before the rest of it, a line
// break is put between them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "base/line_prefix.h"
#include "fiber/identity.h"
#include "image/fork_locks.h"
#include "process/mapped.h"
#include "process/signals/signals.h"

namespace clump::image::output {

/// Makes the C library's `stdout` and `stderr` streams that end in this file's functions. Before any
/// constructor of the program.
void start();
/// Sets what is in front of each line. `whole_lines`: lines are always written as a whole, also when the rank
/// flushes in the middle of one, because another program reads them. Before the first output.
void set_prefix(const base::LinePrefix& prefix, bool whole_lines);
bool started();
/// A function that is told of the first failure to write a rank's output to the job's stdout or stderr, or to
/// the file that mpiexec has made for it. Any thread.
using FailureHook = void (*)(const fiber::Identity& rank, int descriptor, int error);
void set_failure_hook(FailureHook hook);
/// Calls the hook if the calling thread belongs to a rank. Keeps errno.
void note_failure(int descriptor, int error);
/// 1 or 2 for the streams that start() has made and for those of the calling rank, 0 for others.
int descriptor_of(const std::FILE* file);

/// One of a rank's two streams. Any thread of the rank, also in a signal handler, as write() ends here: no
/// handler of a thread runs while the thread holds the lock, and no memory comes from malloc().
class Stream {
 public:
  /// `is_own`: what is written goes to a file of the rank's own, whose failures are not reported.
  Stream(const fiber::Identity* rank, int descriptor, bool is_own = false)
      : rank_(rank), number_(descriptor), is_own_(is_own), descriptor_(descriptor) {}

  /// Writes `text`, or keeps it for its line. Blocks while the descriptor does. False with errno if it cannot
  /// be written.
  bool append(std::string_view text);
  /// Writes the partial line, if there is one.
  bool flush();
  /// Writes the partial line also if lines have to be whole: there is no more output, or it goes to a
  /// different place.
  bool end();
  /// Never blocks on another thread of the rank. For the end of a process that has crashed.
  void flush_if_free();
  /// end(), unless another thread is writing.
  void end_if_free();
  /// Writes `text` to a file that a rank has in the stream's place.
  bool append_to(int descriptor, std::string_view text);
  /// The bytes of the partial line.
  std::size_t pending();
  void discard();
  /// From now on writes to another descriptor, which it takes over.
  void redirect(int descriptor);
  /// Whether what is written goes unchanged to the job's own stream: no prefix, no files of the rank.
  bool goes_straight_out() const;
  /// From now on also writes to this descriptor, which it takes over.
  void copy_to(int descriptor) { copy_ = descriptor; }

 private:
  /// Holds the lock while it lives; `tries`: only if the lock is free.
  class Held {
   public:
    explicit Held(Stream& stream)
        : is_nested_(stream.lock_.is_held_by_caller()), lock_(stream.lock_, std::defer_lock) {
      if (!is_nested_) lock_.lock();
    }
    Held(Stream& stream, std::try_to_lock_t tries) : lock_(stream.lock_, tries) {}
    bool is_held() const { return lock_.owns_lock(); }
    /// A handler has interrupted the thread while it waits for a reader, and has the lock: what it writes
    /// goes out before the rest of that.
    bool is_nested() const { return is_nested_; }

   private:
    const signals::NoHandlers handlers_wait_;  // before the lock, and until it is free
    const bool is_nested_ = false;
    std::unique_lock<RankMutex> lock_;
  };
  bool keeps_lines_whole() const;
  bool keep(std::string_view text);
  bool write_partial();
  bool write_out(std::string_view text);
  bool write_straight(std::string_view text);
  bool write_prefixed(std::string_view text, bool goes_on);
  bool tell(bool written);

  const fiber::Identity* rank_;
  const int number_;  // 1 or 2
  const bool is_own_;
  int descriptor_;
  int copy_ = -1;
  bool redirected_ = false;
  RankMutex lock_;  ///< guards what is above, and `partial_`
  MappedText partial_;
};

/// Whether a rank's stdout or stderr takes bytes (-1) or wide characters (1), as fwide() reports it; 0: the
/// first output decides.
struct Orientation {
  /// Returns the orientation. If it is not decided yet and `wanted` is not 0, `wanted` decides.
  int decide(int wanted) {
    int before = 0;
    const int fresh = (wanted > 0) - (wanted < 0);
    return now.compare_exchange_strong(before, fresh) ? fresh : before;
  }

  std::atomic<int> now{0};
  RankMutex lock;              ///< guards `conversion`
  void* conversion = nullptr;  ///< from wide characters: files/wide.cc
};

/// The streams of a rank. flush_all() knows all of them.
class RankOutput {
 public:
  explicit RankOutput(const fiber::Identity* rank);
  ~RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  /// The rank's part of the job's stream. `descriptor` is 1 or 2.
  Stream& stream(int descriptor) { return descriptor == 2 ? error_ : standard_; }
  /// The stream for a file that the rank has in place of `descriptor`.
  Stream& own(int descriptor) { return descriptor == 2 ? own_error_ : own_standard_; }
  /// Makes the rank's `stdout` (1) or `stderr` (2), before its constructors run. A rank has them to itself,
  /// as it may hold their locks for long (flockfile()), or use them without (putc_unlocked()). The first rank
  /// has those of start(). Null: there is no memory.
  std::FILE* make_file(int descriptor);
  /// 1 or 2 for what make_file() has made, else 0.
  int descriptor_of(const std::FILE* file) const { return file == files_[0] ? 1 : file == files_[1] ? 2 : 0; }
  bool flush();
  bool end();
  /// Ends what was printed to `descriptor`, which will be something else. `stream` is the number of the job's
  /// stream that it was; -1: a file of the rank's own.
  void leave(int descriptor, int stream) {
    (stream > 0 ? this->stream(stream) : own(descriptor)).end_if_free();
  }

  /// The result of ferror() for stdout and stderr.
  bool failed[3] = {};
  std::array<Orientation, 3> orientation;

 private:
  friend void flush_all();
  friend void finish();
  friend void keep_own_after_fork();
  std::array<Stream*, 4> all() { return {&standard_, &error_, &own_standard_, &own_error_}; }

  Stream standard_;
  Stream error_;
  Stream own_standard_;
  Stream own_error_;
  std::FILE* files_[2] = {};
  RankOutput* next_ = nullptr;
};

/// In the child of a fork(): lines of other ranks are not its own.
void keep_own_after_fork();

/// Writes the partial lines of every rank; later output is written at once. When all ranks have left.
void finish();
/// Writes the partial lines of every rank, except what a stream's own thread is writing. Before the process
/// ends.
void flush_all();

}  // namespace clump::image::output
