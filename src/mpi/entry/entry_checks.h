// Checks of arguments by what they are (rank, tag, count, handle ...), as the generated entry points call
// them before the body.
//
// A check is a few loads and compares, inline; what it says when it fails is written out of line, in
// entry/entry_checks.cc. The message starts with "(argument = value): ", and raise() puts the name of the
// call in front of that.
#pragma once

#include "core/comm.h"
#include "core/rank.h"
#include "datatype/datatype.h"
#include "mpi/entry/counts.h"
#include "mpi/entry/entry.h"
#include "rma/window.h"

namespace clump::mpi {

/// The largest tag of a user's message: the value of MPI_TAG_UB.
inline constexpr int kMaxTag = (1 << 30) - 1;

/// An argument with its name in the standard.
template <typename T>
struct Named {
  const char* name;
  T value;
};

/// A buffer with what lies there, or shall.
struct Data {
  const void* buffer;
  Count count;
  const datatype::Datatype* type;
};

/// Which arguments of a rooted collective mean something in this process (MPI-5.0 section 6.2.2). In an
/// intracommunicator all ranks contribute; in an intercommunicator only one group does, and of the root's
/// group only the root takes part at all.
struct Roles {
  bool at_root;
  bool contributes;
  bool takes_part;
  Roles(int root, const core::Comm& comm)
      : at_root(comm.is_inter() ? root == MPI_ROOT : root == comm.rank),
        contributes(root >= 0),
        takes_part(root != MPI_PROC_NULL) {}
};

namespace check {

/// What the buffer of a collective holds whose blocks have counts, and perhaps types, of their own. The
/// arrays were checked.
struct Blocks {
  Named<Counts> counts;
  Counts displacements =
      {};  ///< of elements, or, where there are `types`, of bytes; null: one follows another
  Count number = 0;
  const datatype::Datatype* type = nullptr;  ///< of all blocks; null: each has its own of `types`
  const MPI_Datatype* types = nullptr;
  const core::Rank* rank = nullptr;  ///< which knows these
};

namespace cold {
[[gnu::cold]] base::Status comm(Named<MPI_Comm> argument);
[[gnu::cold]] base::Status datatype(Named<MPI_Datatype> argument);
[[gnu::cold]] base::Status uncommitted(Named<MPI_Datatype> argument, const datatype::Datatype& type);
[[gnu::cold]] base::Status topology(Named<MPI_Comm> argument);
[[gnu::cold]] base::Status inter(Named<MPI_Comm> argument);
[[gnu::cold]] base::Status group(Named<MPI_Group> argument);
[[gnu::cold]] base::Status op(Named<MPI_Op> argument);
[[gnu::cold]] base::Status errhandler(Named<MPI_Errhandler> argument);
[[gnu::cold]] base::Status info(Named<MPI_Info> argument);
[[gnu::cold]] base::Status session(Named<MPI_Session> argument);
[[gnu::cold]] base::Status win(Named<MPI_Win> argument);
[[gnu::cold]] base::Status file(Named<MPI_File> argument);
[[gnu::cold]] base::Status unsuited(Named<MPI_Errhandler> argument, core::Errhandler::Action kind);
[[gnu::cold]] base::Status negative(Named<Count> argument, int error_class);
[[gnu::cold]] base::Status negative_element(const char* name, std::size_t index, Count value);
[[gnu::cold]] base::Status null(const char* name, int error_class);
[[gnu::cold]] base::Status null_array(const char* name, Count length);
[[gnu::cold]] base::Status displacements(const char* name, Named<Counts> counts, Count number);
[[gnu::cold]] base::Status peer(Named<int> argument, const core::Comm& comm, bool wildcard);
[[gnu::cold]] base::Status member(Named<int> argument, const core::Comm& comm);
[[gnu::cold]] base::Status root(Named<int> argument, const core::Comm& comm);
[[gnu::cold]] base::Status tag(Named<int> argument, bool wildcard);
[[gnu::cold]] base::Status in_place(const char* name);
/// Looks closer at a buffer whose address is one of the small numbers that mean something.
[[gnu::cold]] base::Status buffer(Named<const void*> argument, Count count, const datatype::Datatype* type);
[[gnu::cold]] base::Status buffer(Named<const void*> argument, const Blocks& blocks);
}  // namespace cold

/// What an insignificant datatype argument becomes: zero elements of this one.
inline const datatype::Datatype* no_type() { return datatype::predefined(MPI_BYTE); }
/// What an insignificant operation becomes: nothing is combined by it.
inline core::Op* no_op(Call& call) { return call.self->op(MPI_NO_OP); }

// Handles: the object behind a valid handle, or the error class of its kind.

[[gnu::always_inline]] inline base::Status comm(Call& call, Named<MPI_Comm> argument, core::Comm*& object) {
  object = call.self->comm(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::comm(argument);
  if (call.target.comm == nullptr) call.target.comm = object;
  return {};
}

/// For calls that intercommunicators cannot make.
inline base::Status intra(Named<MPI_Comm> argument, const core::Comm& comm) {
  return comm.is_inter() ? cold::inter(argument) : base::Status();
}

/// For neighbourhood collectives.
inline base::Status topology(Named<MPI_Comm> argument, const core::Comm& comm) {
  return comm.topology ? base::Status() : cold::topology(argument);
}

[[gnu::always_inline]] inline base::Status datatype(Call& call, Named<MPI_Datatype> argument,
                                                    const datatype::Datatype*& object) {
  object = call.self->datatype(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::datatype(argument);
  return {};
}

/// For communication: it must have been committed, too.
[[gnu::always_inline]] inline base::Status committed(Call& call, Named<MPI_Datatype> argument,
                                                     const datatype::Datatype*& object) {
  CLUMP_TRY(datatype(call, argument, object));
  if (!object->committed()) [[unlikely]]
    return cold::uncommitted(argument, *object);
  return {};
}

inline base::Status group(Call& call, Named<MPI_Group> argument, const core::Group*& object) {
  object = call.self->group(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::group(argument);
  return {};
}

inline base::Status op(Call& call, Named<MPI_Op> argument, core::Op*& object) {
  object = call.self->op(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::op(argument);
  return {};
}

inline base::Status errhandler(Call& call, Named<MPI_Errhandler> argument, core::Errhandler*& object) {
  object = call.self->errhandler(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::errhandler(argument);
  return {};
}

inline base::Status info(Call& call, Named<MPI_Info> argument, core::Info*& object) {
  object = call.self->info(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::info(argument);
  return {};
}

inline base::Status session(Call& call, Named<MPI_Session> argument, core::Session*& object) {
  object = call.self->session(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::session(argument);
  call.target.session = object;
  return {};
}

[[gnu::always_inline]] inline base::Status win(Call& call, Named<MPI_Win> argument, rma::Window*& object) {
  core::Window* const found = call.self->window(argument.value);
  if (found == nullptr) [[unlikely]]
    return cold::win(argument);
  object = static_cast<rma::Window*>(found);  // there are no others
  call.target.window = object;
  return {};
}

inline base::Status file(Call& call, Named<MPI_File> argument, core::File*& object) {
  call.target.of_files = true;
  object = call.self->file(argument.value);
  if (object == nullptr) [[unlikely]]
    return cold::file(argument);
  call.target.file = object;
  return {};
}

/// The handler of an object of `kind` that the call is to make: it is also the call's own.
inline base::Status new_errhandler(Call& call, Named<MPI_Errhandler> argument, core::Errhandler::Action kind,
                                   core::Errhandler*& object) {
  CLUMP_TRY(errhandler(call, argument, object));
  if (!object->suits(kind)) [[unlikely]]
    return cold::unsuited(argument, kind);
  call.target.errhandler = object;
  return {};
}

/// MPI_INFO_NULL is no info object, and allowed.
inline base::Status info_or_null(Call& call, Named<MPI_Info> argument, core::Info*& object) {
  object = nullptr;
  return argument.value == MPI_INFO_NULL ? base::Status() : info(call, argument, object);
}

// Numbers.

inline base::Status not_negative(Named<Count> argument, int error_class) {
  return argument.value < 0 ? cold::negative(argument, error_class) : base::Status();
}

/// The first `length` counts of an array; a null array has no counts.
inline base::Status not_negative(Named<Counts> argument, Count length) {
  if (length > 0 && !argument.value) [[unlikely]]
    return cold::null_array(argument.name, length);
  for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
    if (argument.value[i] < 0) [[unlikely]]
      return cold::negative_element(argument.name, i, argument.value[i]);
  return {};
}

/// Where a message goes to: a rank of the communicator's peers, or MPI_PROC_NULL.
inline base::Status destination(Named<int> argument, const core::Comm& comm) {
  const bool valid = static_cast<unsigned>(argument.value) < static_cast<unsigned>(comm.peers().size());
  return valid || argument.value == MPI_PROC_NULL ? base::Status() : cold::peer(argument, comm, false);
}

/// Where a message comes from: also MPI_ANY_SOURCE.
inline base::Status source(Named<int> argument, const core::Comm& comm) {
  const bool valid = static_cast<unsigned>(argument.value) < static_cast<unsigned>(comm.peers().size());
  return valid || argument.value == MPI_ANY_SOURCE || argument.value == MPI_PROC_NULL
             ? base::Status()
             : cold::peer(argument, comm, true);
}

/// A rank of the communicator's (local) group.
inline base::Status member(Named<int> argument, const core::Comm& comm) {
  const bool valid = static_cast<unsigned>(argument.value) < static_cast<unsigned>(comm.size());
  return valid ? base::Status() : cold::member(argument, comm);
}

inline base::Status root(Named<int> argument, const core::Comm& comm) {
  const bool valid = static_cast<unsigned>(argument.value) < static_cast<unsigned>(comm.peers().size()) ||
                     (comm.is_inter() && (argument.value == MPI_ROOT || argument.value == MPI_PROC_NULL));
  return valid ? base::Status() : cold::root(argument, comm);
}

inline base::Status send_tag(Named<int> argument) {
  return static_cast<unsigned>(argument.value) <= kMaxTag ? base::Status() : cold::tag(argument, false);
}

inline base::Status receive_tag(Named<int> argument) {
  const bool valid = static_cast<unsigned>(argument.value) <= kMaxTag || argument.value == MPI_ANY_TAG;
  return valid ? base::Status() : cold::tag(argument, true);
}

// Addresses.

/// Something that is read or written, so there must be an address.
inline base::Status pointer(Named<const void*> argument, int error_class = MPI_ERR_ARG) {
  return argument.value == nullptr ? cold::null(argument.name, error_class) : base::Status();
}

/// An array that may be null if it has no elements.
inline base::Status array(Named<const void*> argument, Count length) {
  return argument.value == nullptr && length > 0 ? cold::null_array(argument.name, length) : base::Status();
}

/// Where blocks lie. Null is right only if all of them are empty.
inline base::Status displacements(Named<Counts> argument, Named<Counts> counts, Count number) {
  return !argument.value && number > 0 ? cold::displacements(argument.name, counts, number) : base::Status();
}

/// MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC.
inline bool is_special(const void* buffer) { return reinterpret_cast<std::uintptr_t>(buffer) <= 2; }

/// `count` elements of `type`. MPI_BOTTOM is the null pointer, so null is wrong only if the type has no
/// absolute addresses.
inline base::Status buffer(Named<const void*> argument, Count count, const datatype::Datatype& type) {
  return is_special(argument.value) ? cold::buffer(argument, count, &type) : base::Status();
}

/// The same for blocks: null is wrong if one with data has no absolute address.
inline base::Status buffer(Named<const void*> argument, const Blocks& blocks) {
  return is_special(argument.value) ? cold::buffer(argument, blocks) : base::Status();
}

/// Whether a collective works in place; `allowed`: MPI_IN_PLACE has a meaning for this argument of this
/// process.
inline base::Status in_place(Named<const void*> argument, bool allowed, bool& result) {
  result = argument.value == MPI_IN_PLACE;
  return result && !allowed ? cold::in_place(argument.name) : base::Status();
}

/// Of data and result of a collective that begin at the same address: that they do not overlap. `in_place` is
/// the argument that may be MPI_IN_PLACE in an intracommunicator, null if none may.
[[gnu::cold]] base::Status apart(Named<Data> data, Named<Data> result, const char* in_place);

/// The first `length` types of an array, for communication.
base::Status types(Call& call, Named<const MPI_Datatype*> argument, Count length);

}  // namespace check
}  // namespace clump::mpi
