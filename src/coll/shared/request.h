// What stands behind the request of a non-blocking or persistent collective that the team of its communicator
// does, without blocking (shared/pending.h; MPI-5.0 sections 6.12 and 6.13).
#pragma once

#include <memory>
#include <utility>

#include "coll/schedule/collective_request.h"
#include "coll/shared/shared_state.h"
#include "coll/schedule/scratch.h"
#include "coll/shared/pair_buffers.h"

namespace clump::coll {

class Team;

class TeamRequest final : public CollectiveRequest {
 public:
  core::Comm& communicator() const { return *comm; }
  const Reduction& reduction() const { return reduction_; }
  /// Null where data is only moved.
  const Reduction* combining() const { return reduction_.op != nullptr ? &reduction_ : nullptr; }
  int tag() const override { return tag_; }
  void begin() override;

 private:
  friend class PendingCollective;
  friend class PendingCollectives;
  friend class RequestBuilder;
  /// What few have.
  struct Extra {
    Blocks out, in;
    Blocks::LeaderBuffer out_room, in_room;
    Layout original{};  // of what is copied to from_
    Scratch copy{nullptr, {0}};
  };

  /// Takes the communicator's next collective tag.
  TeamRequest(core::Comm& comm, Team& team, const Reduction& reduction, Kind kind);

  /// Of two ranks: what the caller gives goes there, if it is worth it.
  void fill_room(PairBuffers& rooms);

  Team& team_;
  const Reduction reduction_;  // predefined
  const int tag_;
  bool has_blocks_ = false;
  PackedSignature signature_;
  Count bytes_ = 0, first_ = 0;
  Layout from_{}, to_{};
  PairTransfer transfer_;               // where there are rooms
  PairBuffer* room_ = nullptr;  // where the caller has put what it gives; null: nowhere
  std::unique_ptr<Extra> extra_;
};

/// An operation that a call asks for. The team of the communicator does it or does not: then there are
/// messages to be sent, and nothing has happened.
class RequestBuilder {
 public:
  using Kind = CollectiveRequest::Kind;
  /// What it refers to has to stay.
  RequestBuilder(core::Comm& comm, const Reduction& reduction, Kind kind);

  core::Comm& communicator() const { return comm_; }
  const Reduction& reduction() const { return reduction_; }

  // One of these, once: whether the team does it.
  bool say(const SharedCollective::Call& call);
  /// The same, for one that copies `call.from` first whenever it begins.
  bool say_with_copy(const SharedCollective::Call& call);
  /// With blocks that may differ in size; so many of them, or 0 where they have no meaning at the caller. The
  /// same ones twice: in place.
  bool say(Collective collective, int root, const Blocks& out, int blocks_out, const Blocks& in,
           int blocks_in);

  /// After one of them said yes.
  std::unique_ptr<TeamRequest> take() { return std::move(operation_); }

 private:
  bool is_taken(Collective collective, Count bytes);

  core::Comm& comm_;
  const Reduction& reduction_;
  const Kind kind_;
  Team* const team_;
  std::unique_ptr<TeamRequest> operation_;
};

}  // namespace clump::coll
