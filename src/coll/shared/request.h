// The request of a non-blocking or persistent collective that the team of its communicator does, without
// blocking (shared/pending.h; MPI-5.0 sections 6.12 and 6.13).
#pragma once

#include <memory>

#include "coll/schedule/collective_request.h"
#include "coll/schedule/scratch.h"
#include "coll/shared/shared_state.h"

namespace clump::coll {

class Team;

class TeamRequest final : public CollectiveRequest {
 public:
  /// Takes the communicator's next collective tag. Null, and nothing has happened, if the team of the
  /// communicator does not do the operation: then there are messages to be sent.
  static std::unique_ptr<TeamRequest> make(core::Comm& comm, const Call& call, Kind kind);

  core::Comm& communicator() const { return *comm; }
  const Reduction& reduction() const { return reduction_; }
  int tag() const override { return tag_; }
  void begin() override;

 private:
  friend class PendingCollective;
  friend class PendingCollectives;
  /// Members that few requests need.
  struct Extra {
    Blocks out, in;
    Blocks::Storage out_storage, in_storage;
    Layout original{};  // of what is copied to from_
    Scratch copy{nullptr, {0}};
  };

  TeamRequest(core::Comm& comm, Team& team, const Reduction& reduction, Kind kind);

  void keep_blocks(const Call& call);
  /// The operation copies `call.send` first, whenever it begins.
  void copy_first(const Call& call);

  Team& team_;
  const Reduction reduction_;  // predefined
  const int tag_;
  bool has_blocks_ = false;
  PackedSignature signature_;
  Count bytes_ = 0, first_ = 0;
  Layout from_{}, to_{};
  std::unique_ptr<Extra> extra_;
};

}  // namespace clump::coll
