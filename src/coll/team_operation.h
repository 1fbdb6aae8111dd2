// What stands behind the request of a non-blocking or persistent collective that the team of its communicator
// does, by appointment (appointment.h; MPI-5.0 sections 6.12 and 6.13).
#pragma once

#include <memory>

#include "coll/collective_request.h"
#include "coll/meeting_state.h"
#include "coll/scratch.h"

namespace clump::coll {

class Team;

class TeamOperation final : public CollectiveRequest {
 public:
  /// Null if the ranks of the communicator are no team.
  static std::unique_ptr<TeamOperation> make(core::Comm& comm, const Reduction& reduction, Kind kind);

  core::Comm& communicator() const { return *comm; }
  const Reduction& reduction() const { return reduction_; }
  int tag() const override { return tag_; }

  // What is called: one of these, once. False if that is not for the team: there are messages to be sent.
  bool say(const Meeting::Call& call);
  /// The same, for one that copies `call.from` first whenever it begins.
  bool say_with_copy(const Meeting::Call& call);
  /// With blocks that may differ in size; so many of them, or 0 where they have no meaning at the caller. The
  /// same ones twice: in place.
  bool say(Collective collective, int root, const Blocks& out, int blocks_out, const Blocks& in,
           int blocks_in);

  void begin() override;

 private:
  friend class Appointment;

  TeamOperation(core::Comm& comm, Team& team, const Reduction& reduction, Kind kind);
  bool is_for_team(Collective collective, Count bytes) const;

  /// What few have.
  struct Extra {
    Blocks out, in;
    Blocks::Room out_room, in_room;
    Layout original{};  // of what is copied to from_
    Scratch copy{nullptr, {0}};
  };

  Team& team_;
  const Reduction reduction_;  // predefined
  int tag_ = 0;
  bool has_blocks_ = false;
  Word word_;
  Count bytes_ = 0, first_ = 0;
  Layout from_{}, to_{};
  std::unique_ptr<Extra> extra_;
};

}  // namespace clump::coll
