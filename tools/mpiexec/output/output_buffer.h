// What mpiexec has to write to a descriptor whose reader may be slow, or stand still. mpiexec's thread never
// waits in write(): what the descriptor does not take is kept, and written when poll() says that there is
// room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/poll_set.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread.
class OutputBuffer {
 public:
  /// A buffer that keeps so much is full: who fills it stops until it is not.
  static constexpr std::size_t kMost = 1 << 20;

  /// `descriptor` stays the caller's. Whatever others have on the same open file description sees no change.
  explicit OutputBuffer(int descriptor) : descriptor_(descriptor) {}
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;
  ~OutputBuffer();

  /// Writes these bytes behind what is kept, as far as the descriptor takes them now, and keeps the rest.
  /// Also a full buffer takes them. What cannot be written is lost, and write_failure() tells. `writer`:
  /// whose line may go on with them later. If another writer's line has not ended, a line break comes first;
  /// so mpiexec's own words (null) begin a line.
  void put(std::string_view bytes, const void* writer = nullptr);
  /// Whether the last bytes were the beginning of a line of `writer`.
  bool has_open_line_of(const void* writer) const { return open_line_ == writer; }
  /// Writes as much of what is kept as the descriptor takes now.
  void write();
  /// So many bytes are kept.
  std::size_t kept() const { return bytes_.size() - written_; }
  bool is_full() const { return kept() >= kMost; }
  /// The first errno with which bytes were lost; 0: none was.
  int error() const { return error_; }
  /// Loses what is kept. A line of it may be written in part: what comes next begins a new one.
  void discard();
  /// Waits for room if there is something to write.
  void add_to(tools::PollSet& all) const;

 private:
  enum class Way : std::uint8_t { kUnknown, kAtOnce, kSocket, kOwn, kPieces };

  void find_way();
  long write_some(std::string_view bytes);
  /// Returns what is left of them.
  std::string_view write_now(std::string_view bytes);

  const int descriptor_;
  Way way_ = Way::kUnknown;
  int own_ = -1;  ///< the same pipe or terminal by an open file description of mpiexec's own
  std::string bytes_;
  std::size_t written_ = 0;  ///< of them
  int error_ = 0;
  const void* open_line_ = nullptr;
};

/// Those of stdout and stderr (1, 2): one for both where both are the same pipe, socket or terminal, so that
/// what is written to it stays in its order.
OutputBuffer& output_buffer(int descriptor);
/// Both, or the one.
std::vector<OutputBuffer*> output_buffers();
/// Words of launchers and the like, to stderr, made printable (base/printable.h): they may have names in them
/// that others chose.
void write_error(const std::string& text);

/// What mpiexec says: that something goes wrong, or what it was asked for.
enum class Word { kTrouble, kAnswer };
/// "mpiexec: TEXT", as a line.
std::string as_word(const std::string& text);
/// `word` as it is written to stderr: made printable, on a terminal as wide as that is; with colour the first
/// line of a trouble stands out.
std::string as_shown(const std::string& word, Word kind);
/// as_word() to stderr.
void say(const std::string& text, Word kind = Word::kTrouble);

struct WriteFailure {
  int descriptor;
  int error;  ///< errno
};
/// The first one of any buffer, or the first EPIPE; null: all was written. Owned by mpiexec's only thread.
const WriteFailure* write_failure();
/// From now on a closed pipe, and a file's limit, are errors of write() and end no process. For children that
/// is to be undone: they inherit the calling thread's mask.
void block_signals_of_writes();

}  // namespace clump::mpiexec
