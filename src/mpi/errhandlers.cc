// Error handlers as objects (MPI-5.0 section 9.3). That entry points call them is in entry/entry.cc.
#include <mutex>
#include <utility>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry.h"

namespace clump::mpi {

namespace {

using core::Errhandler;
using Action = core::Errhandler::Action;

/// Guards Errhandler::handle and given_out. Calls that need it are rare, so one lock serves all ranks.
std::mutex& handles_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// A handle for the user: the same one again if the user already holds one.
MPI_Errhandler give_out(core::Rank& self, base::Ref<Errhandler> handler) {
  if (!handler->is_users()) return handler->handle;
  Errhandler& object = *handler;
  const std::lock_guard lock(handles_mutex());
  if (object.given_out++ == 0) object.handle = self.add(std::move(handler));
  return object.handle;
}

template <typename Function>
base::Status create(core::Rank& self, Action action, Function* function, MPI_Errhandler* errhandler) {
  if (function == nullptr) return base::fail(MPI_ERR_ARG, "the error handler's function is a null pointer");
  *errhandler =
      give_out(self, base::make_ref<Errhandler>(action, reinterpret_cast<Errhandler::Function>(function)));
  return {};
}

}  // namespace

base::Status comm_create_errhandler(core::Rank& self, MPI_Comm_errhandler_function* comm_errhandler_fn,
                                    MPI_Errhandler* errhandler) {
  return create(self, Action::kComm, comm_errhandler_fn, errhandler);
}

base::Status win_create_errhandler(core::Rank& self, MPI_Win_errhandler_function* win_errhandler_fn,
                                   MPI_Errhandler* errhandler) {
  return create(self, Action::kWin, win_errhandler_fn, errhandler);
}

base::Status file_create_errhandler(core::Rank& self, MPI_File_errhandler_function* file_errhandler_fn,
                                    MPI_Errhandler* errhandler) {
  return create(self, Action::kFile, file_errhandler_fn, errhandler);
}

base::Status session_create_errhandler(core::Rank& self,
                                       MPI_Session_errhandler_function* session_errhandler_fn,
                                       MPI_Errhandler* errhandler) {
  return create(self, Action::kSession, session_errhandler_fn, errhandler);
}

base::Status comm_set_errhandler(core::Rank&, core::Comm& comm, Errhandler& errhandler) {
  if (!errhandler.suits(Action::kComm))
    return base::fail(MPI_ERR_ARG, "errhandler was not made by MPI_Comm_create_errhandler");
  comm.errhandler.set(base::Ref(&errhandler));
  return {};
}

base::Status comm_get_errhandler(core::Rank& self, core::Comm& comm, MPI_Errhandler* errhandler) {
  *errhandler = give_out(self, comm.errhandler.get());
  return {};
}

base::Status comm_call_errhandler(core::Rank& self, core::Comm& comm, int errorcode) {
  const base::Ref<Errhandler> handler = comm.errhandler.get();  // the function may set another one
  MPI_Comm handle = comm.handle;
  // The user's function gets the user's code as it is; raise() would put the name of this call into its
  // message.
  if (handler->is_users())
    (void)call_handler(&self, *handler, &handle, errorcode);
  else
    (void)raise(&self, &comm, "MPI_Comm_call_errhandler", base::Status::from_code(errorcode));
  return {};
}

base::Status win_set_errhandler(core::Rank&, rma::Window& win, Errhandler& errhandler) {
  if (!errhandler.suits(Action::kWin))
    return base::fail(MPI_ERR_ARG, "errhandler was not made by MPI_Win_create_errhandler");
  win.errhandler.set(base::Ref(&errhandler));
  return {};
}

base::Status win_get_errhandler(core::Rank& self, rma::Window& win, MPI_Errhandler* errhandler) {
  *errhandler = give_out(self, win.errhandler.get());
  return {};
}

base::Status win_call_errhandler(core::Rank& self, rma::Window& win, int errorcode) {
  const base::Ref<Errhandler> handler = win.errhandler.get();
  MPI_Win handle = win.handle;
  if (handler->is_users())
    (void)call_handler(&self, *handler, &handle, errorcode);
  else
    (void)raise(&self, &win, "MPI_Win_call_errhandler", base::Status::from_code(errorcode));
  return {};
}

base::Status session_set_errhandler(core::Rank&, core::Session& session, Errhandler& errhandler) {
  if (!errhandler.suits(Action::kSession))
    return base::fail(MPI_ERR_ARG, "errhandler was not made by MPI_Session_create_errhandler");
  session.errhandler.set(base::Ref(&errhandler));
  return {};
}

base::Status session_get_errhandler(core::Rank& self, core::Session& session, MPI_Errhandler* errhandler) {
  *errhandler = give_out(self, session.errhandler.get());
  return {};
}

base::Status session_call_errhandler(core::Rank& self, core::Session& session, int errorcode) {
  const base::Ref<Errhandler> handler = session.errhandler.get();
  MPI_Session handle = session.handle;
  if (handler->is_users())
    (void)call_handler(&self, *handler, &handle, errorcode);
  else
    (void)raise(&self, &session, "MPI_Session_call_errhandler", base::Status::from_code(errorcode));
  return {};
}

namespace {

/// The error handler of a file, or of MPI_FILE_NULL (MPI-5.0 section 14.7).
base::Status slot_of(core::Rank& self, const char* argument, MPI_File handle, core::File*& file,
                     core::ErrhandlerSlot*& slot) {
  file = self.file(handle);
  if (file == nullptr && handle != MPI_FILE_NULL)
    return base::fail(MPI_ERR_FILE, "({} = {:#x}): it is no open file, nor MPI_FILE_NULL", argument,
                      core::value_of(handle));
  slot = file != nullptr ? &file->errhandler : &self.file_errhandler;
  return {};
}

}  // namespace

base::Status file_set_errhandler(core::Rank& self, MPI_File file, Errhandler& errhandler) {
  core::File* object = nullptr;
  core::ErrhandlerSlot* slot = nullptr;
  CLUMP_TRY(slot_of(self, "file", file, object, slot));
  if (!errhandler.suits(Action::kFile))
    return base::fail(MPI_ERR_ARG, "errhandler was not made by MPI_File_create_errhandler");
  slot->set(base::Ref(&errhandler));
  return {};
}

base::Status file_get_errhandler(core::Rank& self, MPI_File file, MPI_Errhandler* errhandler) {
  core::File* object = nullptr;
  core::ErrhandlerSlot* slot = nullptr;
  CLUMP_TRY(slot_of(self, "file", file, object, slot));
  *errhandler = give_out(self, slot->get());
  return {};
}

base::Status file_call_errhandler(core::Rank& self, MPI_File fh, int errorcode) {
  core::File* object = nullptr;
  core::ErrhandlerSlot* slot = nullptr;
  CLUMP_TRY(slot_of(self, "fh", fh, object, slot));
  const base::Ref<Errhandler> handler = slot->get();
  if (handler->is_users())
    (void)call_handler(&self, *handler, &fh, errorcode);
  else
    (void)raise(&self, object, "MPI_File_call_errhandler", base::Status::from_code(errorcode));
  return {};
}

base::Status errhandler_free(core::Rank& self, MPI_Errhandler* errhandler) {
  // What MPI_Comm_get_errhandler gives is to be freed (MPI-5.0 section 9.3.4), so predefined handlers can be,
  // too.
  Errhandler& object = *self.errhandler(*errhandler);
  if (object.is_users()) {
    const std::lock_guard lock(handles_mutex());
    if (--object.given_out == 0) self.remove(*errhandler);
  }
  *errhandler = MPI_ERRHANDLER_NULL;
  return {};
}

}  // namespace clump::mpi
