// Operations that the network has, from their start to their completion. The objects are used again and
// again, under their endpoint context's lock.
#pragma once

#include <memory>
#include <vector>

#include "net/ofi/endpoint.h"
#include "net/ofi/wire.h"

namespace clump::net::ofi {

class OfiRendezvous;

/// Up to this size the sender copies; a longer short message leaves from the user's buffer, which costs a
/// completion.
inline constexpr Count kCopied = 4096;
inline constexpr std::size_t kMostCopies = 256;
/// An upper limit of what is injected: most providers have less room in their descriptors, and some claim to
/// have far more, but copy.
inline constexpr std::size_t kLongestInjected = 512;

/// An operation, found again by its completion.
struct InFlight : Transfer {
  enum class Kind : std::uint8_t { kMultiReceive, kCopy, kInPlace, kPieceOut, kPieceIn };
  explicit InFlight(Kind its_kind) : kind(its_kind) {}
  const Kind kind;
  int process = 0;  ///< the other process; unused in kMultiReceive
};

/// Memory for arriving short messages and notes, one behind the other.
struct MultiReceive : InFlight {
  static constexpr std::size_t kBytes = 512 * 1024;
  MultiReceive() : InFlight(Kind::kMultiReceive) {}
  std::unique_ptr<std::byte[]> memory = std::make_unique_for_overwrite<std::byte[]>(kBytes);
  int kept = 0;                      ///< how many messages cannot be delivered yet
  bool full = false;                 ///< nothing more will arrive
  std::size_t arrived = 0, end = 0;  ///< the bytes that have arrived, and where the last of them end
  bool has_failed = false;           ///< a message that was to arrive in it was lost
  /// Whether a message may still be arriving, if messages lie one behind the other.
  bool has_gap() const { return arrived < end && !has_failed; }
};

/// Short messages or a note, in memory of Clump's.
struct Copy : InFlight {
  Copy() : InFlight(Kind::kCopy) {}
  std::byte data[wire::kLongest];
};

/// A short message that is sent from the user's buffer.
struct InPlace : InFlight {
  InPlace() : InFlight(Kind::kInPlace) {}
  SendRequest* message = nullptr;
  wire::Note<wire::MessageBody> head;
};

struct PieceOut : InFlight {
  PieceOut() : InFlight(Kind::kPieceOut) {}
  std::uint64_t number = 0;  ///< of the announced message
  Count bytes = 0;
  std::unique_ptr<std::byte[]> packed;  ///< null: sent from the user's buffer
};

struct PieceIn : InFlight {
  PieceIn() : InFlight(Kind::kPieceIn) {}
  OfiRendezvous* rendezvous = nullptr;
  Count offset = 0, bytes = 0;
  std::unique_ptr<std::byte[]> packed;  ///< null: received into the user's buffer
};

/// The operations of one kind that the network does not have.
template <typename Its>
class Pool {
 public:
  /// Null if the network has `most` of them already.
  Its* take(std::size_t most = ~std::size_t{0}) {
    if (!idle_.empty()) {
      Its* const one = idle_.back();
      idle_.pop_back();
      return one;
    }
    if (all_.size() >= most) return nullptr;
    return all_.emplace_back(std::make_unique<Its>()).get();
  }
  void put_back(Its& one) { idle_.push_back(&one); }
  bool all_are_back() const { return idle_.size() == all_.size(); }

 private:
  std::vector<std::unique_ptr<Its>> all_;
  std::vector<Its*> idle_;
};

struct InFlightPools {
  Pool<Copy> copies;
  Pool<InPlace> in_place;
  Pool<PieceOut> pieces_out;
  Pool<PieceIn> pieces_in;
  std::vector<std::unique_ptr<MultiReceive>> multi_receives;

  /// Whether the network has nothing but multi-receive buffers.
  bool all_are_back() const {
    return copies.all_are_back() && in_place.all_are_back() && pieces_out.all_are_back() &&
           pieces_in.all_are_back();
  }
};

}  // namespace clump::net::ofi
