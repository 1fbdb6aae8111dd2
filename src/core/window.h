// Windows (MPI-5.0 chapter 12), as layers see them that know nothing of one-sided communication: handles,
// attributes, error handlers. What the window does is in src/rma.
#pragma once

#include "base/ref.h"
#include "base/status.h"
#include "core/attributes.h"
#include "core/errhandler.h"
#include "core/group.h"
#include "core/info.h"
#include "core/object_name.h"

namespace clump::core {

class Rank;
struct BufferInUse;

/// One rank's object for a window. Every rank of the window has its own.
class Window : public base::RefCounted {
 public:
  Window(Rank& owner, base::Ref<const Group> group) : owner(owner), group(std::move(group)) {}

  /// mpiexec --check: the owner gives a buffer to a call. If it lies in the owner's memory of the window,
  /// MPI_ERR_RMA_CONFLICT if others access its bytes at the same time.
  virtual base::Status look_at_own(const BufferInUse& use) = 0;

  Rank& owner;
  const base::Ref<const Group> group;  ///< the group of the communicator that the window was made of

  MPI_Win handle = MPI_WIN_NULL;  ///< set by Rank::add()
  ObjectName name;
  Attributes attributes;
  Info info;  ///< hints that the window knows of (MPI_Win_get_info)
  ErrhandlerSlot errhandler{Errhandler::fatal()};
};

}  // namespace clump::core
