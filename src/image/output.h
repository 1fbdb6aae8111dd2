// Output of ranks, line by line: whatever a rank writes to stdout or stderr, in whatever pieces, goes to the
// descriptor in whole lines, each with one write(2), so that the lines of ranks never mix. A partial line
// goes out when the rank flushes or ends; if another rank's line comes before its rest, a line break is put
// between them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "fiber/identity.h"

namespace clump::image::output {

/// Makes the C library's `stdout` and `stderr` streams that end here. Before any constructor of the program.
void start();
/// What tells in front of each line whose it is: the rank's number between two texts.
struct Tags {
  std::string_view before, after;
  /// Lines go out as a whole, also where the rank flushes in the middle of one: somebody else reads them.
  bool whole_lines = false;
};
/// Before the first output.
void set_tags(const Tags& tags);
bool started();
/// The streams that start() made; `descriptor` is 1 or 2.
std::FILE* stream_of(int descriptor);
/// Is told of the first failure to write what a rank prints to the job's stdout or stderr, or to the file
/// that mpiexec has made for it. Any thread.
using FailureHook = void (*)(const fiber::Identity& rank, int descriptor, int error);
void set_failure_hook(FailureHook hook);
/// The hook's, if the calling thread belongs to a rank. Leaves errno alone.
void note_failure(int descriptor, int error);
/// 1 or 2 for the streams that start() made, 0 for any other.
int descriptor_of(const std::FILE* file);

/// One of a rank's two streams.
class Stream {
 public:
  /// `is_own`: what is written there goes to a file of the rank's, which is its own affair.
  Stream(const fiber::Identity* rank, int descriptor, bool is_own = false)
      : rank_(rank), number_(descriptor), is_own_(is_own), descriptor_(descriptor) {}

  /// Takes all of `text`. Blocks while the descriptor does. False with errno if it cannot be written.
  bool append(std::string_view text);
  /// Writes the partial line, if there is one.
  bool flush();
  /// Writes it although lines are whole: nothing more will come, or not to the same place.
  bool end();
  /// Never blocks on another thread of the rank: for the end of a process that has crashed.
  void flush_if_free();
  /// end(), if nobody is writing just then.
  void end_if_free();
  /// Takes all of `text` for a file that a rank has in the stream's place.
  bool append_to(int descriptor, std::string_view text);
  /// Bytes of the partial line.
  std::size_t pending();
  void discard();
  /// From now on to another descriptor. Takes it over.
  void redirect(int descriptor);
  /// Whether what is written goes to `descriptor` as it is: no tags, no files of the rank.
  bool goes_straight_out() const;
  /// From now on there, too. Takes it over.
  void copy_to(int descriptor) { copy_ = descriptor; }

 private:
  friend void hold();
  friend void let_go();
  bool keeps_lines_whole() const;
  bool write_partial();
  bool write_out(std::string_view text);
  bool write_straight(std::string_view text);
  bool tell(bool written);
  std::string tagged(std::string_view text, bool goes_on) const;

  const fiber::Identity* rank_;
  const int number_;  // 1 or 2
  const bool is_own_;
  int descriptor_;
  int copy_ = -1;
  bool redirected_ = false;
  std::mutex lock_;
  std::string partial_;
};

/// Whether a rank's stdout or stderr takes bytes (-1) or wide characters (1), as fwide() tells; 0: what comes
/// first decides.
struct Orientation {
  /// What it is, from now on `wanted` if that is not 0 and nothing else was first.
  int decide(int wanted) {
    int before = 0;
    const int fresh = (wanted > 0) - (wanted < 0);
    return now.compare_exchange_strong(before, fresh) ? fresh : before;
  }

  std::atomic<int> now{0};
  std::mutex lock;             ///< guards `conversion`
  void* conversion = nullptr;  ///< from wide characters: libc_wide.cc
};

/// A rank's streams. All of them are known to flush_all().
class RankOutput {
 public:
  explicit RankOutput(const fiber::Identity* rank);
  ~RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  /// The job's. `descriptor` is 1 or 2.
  Stream& stream(int descriptor) { return descriptor == 2 ? error_ : standard_; }
  /// What is printed to a file that the rank has put in the place of `descriptor`.
  Stream& own(int descriptor) { return descriptor == 2 ? own_error_ : own_standard_; }
  bool flush();
  bool end();
  /// `descriptor`, which is the job's stream of that number, or a file of the rank's own (-1), will be
  /// something else.
  void leave(int descriptor, int stream) {
    (stream > 0 ? this->stream(stream) : own(descriptor)).end_if_free();
  }

  /// Of stdout and stderr: what ferror() says.
  bool failed[3] = {};
  std::array<Orientation, 3> orientation;

 private:
  friend void flush_all();
  friend void finish();
  friend void hold();
  friend void let_go();
  friend void let_go_in_child();
  std::array<Stream*, 4> all() { return {&standard_, &error_, &own_standard_, &own_error_}; }

  Stream standard_;
  Stream error_;
  Stream own_standard_;
  Stream own_error_;
  RankOutput* next_ = nullptr;
};

/// Around fork(): what the child inherits is in order, and the other ranks' lines are not its own.
void hold();
void let_go();
void let_go_in_child();

/// Writes every rank's partial lines; what comes later is written as it comes. When all ranks have left.
void finish();
/// Writes every rank's partial lines. What a stream's own thread is busy with stays out. Before the process
/// ends.
void flush_all();

}  // namespace clump::image::output
