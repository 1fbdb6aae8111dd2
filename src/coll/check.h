// What ranks do under --check before a collective operation of the program's: they tell each other what they
// call, and find out whether that is one operation.
//
// Each rank sends each other one a card (card.h), and compares what it gets with its own. Then all agree on
// whether anybody has found a difference, and only if so, they tell each other what they have called, in
// words. So all ranks come to the same end: they do the operation, or all of them fail with the same message,
// which names two of them, and none waits for something that never comes.
//
// These are messages with tags of their own, in the order in which the program calls collectives of the
// communicator. So it makes no difference what operations the ranks have called, whether these block, or
// where the ranks are. A call that blocks waits here for all ranks of the communicator to make it, which any
// program has to expect of any collective operation (MPI-5.0 section 6.14). For one that does not block, the
// check is the beginning of the operation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "coll/card.h"
#include "coll/schedule.h"
#include "core/comm.h"

namespace clump::coll {

class Check final {
 public:
  struct Call {
    const char* name = "";          ///< of the function; lives as long as the process
    const void* address = nullptr;  ///< where it returns to
    int root = Card::kNoRoot;
    const core::Op* op = nullptr;
    bool is_in_place = false;
    bool all_in_place = false;  ///< all ranks have to work in place if one does
    bool combines = false;      ///< as on a card
    std::uint64_t counts = 0;   ///< as on a card
    /// What goes to a rank of the peers, and what comes from there; null: nothing. Are not kept.
    std::function<Layout(int peer)> gives, takes;
    /// Where the data lie that the rank gives, if the call does not block and the program asks for it.
    std::vector<Layout> buffers;
  };

  /// All ranks make theirs in the same order.
  Check(core::Comm& comm, const Call& call);

  /// Waits for the other ranks.
  base::Status run();
  // As those of Schedule; it can be started again when it is over.
  void start(Schedule::Listener& listener);
  bool advance();
  base::Status status() const { return status_; }
  /// Whether there are buffers that the operation only reads, and which nobody may write before it is over.
  bool has_buffers() const { return !buffers_.empty(); }
  /// It is over: MPI_ERR_BUFFER if one of them has changed since start().
  base::Status look_at_buffers() const;

 private:
  /// What a rank has found, in words that others read: is sent as it is.
  struct Finding {
    int peer = -1;  ///< none: there was no difference
    Difference difference = Difference::kNone;
    std::array<char, 480> words{};  ///< what the rank itself has called
  };
  /// Data, as they are described.
  struct Portion {
    Count count = 0;
    datatype::Ref type;
    static Portion of(const Layout& layout);
    std::string words() const;
  };
  struct Buffer {
    Layout data;
    Portion portion;  // keeps the type
    std::uint64_t fingerprint = 0;
  };
  enum class Stage : std::uint8_t { kCards, kAgreement, kFindings };

  void prepare();
  bool go_on();
  void compare();
  void conclude();
  std::string own_words(int peer) const;
  std::string message(int rank, const Finding& finding) const;

  core::Comm& comm_;
  const char* const name_;
  const void* const address_;
  const bool is_in_place_;
  const int tags_;
  std::vector<Portion> gives_, takes_;  // by peer; empty: nothing for anybody
  std::vector<Buffer> buffers_;
  core::Site started_;
  std::vector<Card> mine_, theirs_;  // by peer
  Finding finding_;
  std::vector<Finding> findings_;  // by peer
  int differs_ = 0, any_differs_ = 0;

  Stage stage_ = Stage::kCards;
  std::optional<Schedule> schedule_;
  Schedule::Listener* listener_ = nullptr;
  base::Status status_;
};

}  // namespace clump::coll
