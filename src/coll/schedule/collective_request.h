// What the requests of all non-blocking and persistent collectives have in common, whichever engine does the
// work (MPI-5.0 sections 6.12 and 6.13).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ref.h"
#include "core/comm.h"
#include "core/request.h"

namespace clump::coll {

class CollectiveRequest : public core::Request {
 public:
  enum class Kind : std::uint8_t { kNonblocking, kPersistent };

  void keep(const datatype::Datatype& type);
  void keep(base::Ref<const base::RefCounted> object) { kept_.push_back(std::move(object)); }

  /// Starts a non-blocking one; once. Any thread of its rank.
  virtual void begin() = 0;
  /// MPI_Start.
  base::Status start() final;
  base::Status cancel() final;
  base::Status may_detach() const final;
  void tell(std::vector<core::Awaited>& all) const final;

 protected:
  /// Keeps the communicator alive, and what it is told to keep.
  CollectiveRequest(core::Comm& comm, Kind kind);
  /// The operation's in its communicator.
  virtual int tag() const = 0;

 private:
  const char* const call_;  // what has made it
  std::vector<base::Ref<const base::RefCounted>> kept_;
};

}  // namespace clump::coll
