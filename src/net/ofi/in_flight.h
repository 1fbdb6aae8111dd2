// What is with the network, from its start to its completion. Objects are used again and again, under their
// endpoint context's lock.
#pragma once

#include <memory>
#include <vector>

#include "net/ofi/endpoint.h"
#include "net/ofi/wire.h"

namespace clump::net::ofi {

class OfiRendezvous;

/// Up to here the sender copies; longer short messages leave from its buffer, which costs a completion.
inline constexpr Count kCopied = 4096;
inline constexpr std::size_t kMostCopies = 256;
/// The most that providers take along in their own descriptors is less; some say far more, and copy.
inline constexpr std::size_t kLongestInjected = 512;

/// What the completion of a transfer leads to.
struct InFlight : Transfer {
  enum class Kind : std::uint8_t { kMultiReceive, kCopy, kInPlace, kPieceOut, kPieceIn };
  explicit InFlight(Kind its_kind) : kind(its_kind) {}
  const Kind kind;
  int process = 0;  ///< the other one; not of kMultiReceive
};

/// Memory that short messages and notes arrive in, one behind the other.
struct MultiReceive : InFlight {
  static constexpr std::size_t kBytes = 512 * 1024;
  MultiReceive() : InFlight(Kind::kMultiReceive) {}
  std::unique_ptr<std::byte[]> memory = std::make_unique_for_overwrite<std::byte[]>(kBytes);
  int kept = 0;                      ///< messages that cannot be delivered yet
  bool full = false;                 ///< no more will arrive
  std::size_t arrived = 0, end = 0;  ///< so many bytes, and where the last of them ends
  bool has_failed = false;           ///< something that was to arrive in it has not
  /// Something may be arriving still, where messages lie one behind the other.
  bool has_gap() const { return arrived < end && !has_failed; }
};

/// Short messages or a note in memory of ours.
struct Copy : InFlight {
  Copy() : InFlight(Kind::kCopy) {}
  std::byte data[wire::kLongest];
};

/// A short message out of the sender's buffer.
struct InPlace : InFlight {
  InPlace() : InFlight(Kind::kInPlace) {}
  SendRequest* message = nullptr;
  wire::Note<wire::MessageBody> head;
};

struct PieceOut : InFlight {
  PieceOut() : InFlight(Kind::kPieceOut) {}
  SendRequest* message = nullptr;
  Count bytes = 0, wanted = 0;
  std::unique_ptr<std::byte[]> packed;  ///< null: out of the sender's buffer
};

struct PieceIn : InFlight {
  PieceIn() : InFlight(Kind::kPieceIn) {}
  OfiRendezvous* rendezvous = nullptr;
  Count offset = 0, bytes = 0;
  std::unique_ptr<std::byte[]> packed;  ///< null: into the receiver's buffer
};

/// Those of one kind that are not with the network.
template <typename Its>
class Pool {
 public:
  /// Null if so many are with the network already.
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

  /// Nothing but multi-receive buffers is with the network.
  bool all_are_back() const {
    return copies.all_are_back() && in_place.all_are_back() && pieces_out.all_are_back() &&
           pieces_in.all_are_back();
  }
};

}  // namespace clump::net::ofi
