// Sessions (MPI-5.0 section 11.3). A rank may use MPI through several of them at a time.
#pragma once

#include "base/ref.h"
#include "core/errhandler.h"
#include "core/group.h"
#include "core/info.h"
#include "core/send_buffer.h"

namespace clump::core {

/// A session, from MPI_Session_init to MPI_Session_finalize. The groups and communicators that a program
/// derives from it have its origin.
class Session final : public base::RefCounted {
 public:
  Session(Origin origin, int thread_level, base::Ref<Errhandler> handler)
      : origin(origin), thread_level(thread_level), errhandler(std::move(handler)) {}

  const Origin origin;
  const int thread_level;                 ///< the level that was granted
  MPI_Session handle = MPI_SESSION_NULL;  ///< set by Rank::add()
  ErrhandlerSlot errhandler;
  SendBufferSlot send_buffer;  ///< MPI_Session_attach_buffer
};

}  // namespace clump::core
