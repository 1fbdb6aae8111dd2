// Descriptors 0, 1 and 2 of each rank.
//
// Descriptors belong to the process, and ranks that share it share their numbers (descriptor_owners.h knows
// the owner of each). These three are different: each rank has a table of what they are to it
// (StandardState). Each begins as the job's stream of that number. If a rank closes one, or puts another file
// there, its table changes; the file gets a number of the kernel's above 200 that nothing else uses. So
// functions of the C library that take a descriptor call kernel_number() first. A duplicate of one of the
// job's streams is recognised, so that what is written to it is written in whole lines with tags, and dup2()
// of it back to 1 gives the rank the job's stream again.
//
// A child that fork() makes is a process of its own: go_home() makes the kernel's 0, 1 and 2 what they are to
// the rank, and from then on the numbers are the kernel's. Programs that a rank starts get the same by
// ChildActions.
//
// All functions are for any thread. Those that POSIX requires to be async-signal-safe take no lock, except to
// write the partial line of a stream that is given up, if no other thread writes to it at that moment. In a
// process without images all numbers are the kernel's.
#pragma once

#include <spawn.h>

#include <cstdio>
#include <string>

#include "base/status.h"
#include "fiber/identity.h"
#include "process/files/descriptor_owners.h"
#include "process/rank_state.h"

namespace clump::image {

/// From now on the rank's stdout or stderr (`descriptor` is 1 or 2) goes to the end of a file. `only`: it no
/// longer goes to where it went before. MPI_ERR_BAD_FILE with the system's text.
base::Status send_output_to(fiber::Identity& rank, int descriptor, const std::string& path, bool only);

namespace standard {

using Place = StandardState::Place;

/// What a descriptor of the calling rank is.
Place place_of(int descriptor);
Place place_of_standard(int descriptor);

/// The kernel's number for a descriptor of the calling rank; -1 if the rank does not have it.
inline int kernel_number(int descriptor) {
  if (static_cast<unsigned>(descriptor) > 2) [[likely]]
    return owners::is_closed_for_caller(descriptor) ? -1 : descriptor;
  return captured() ? place_of_standard(descriptor).real : descriptor;
}
/// Whether the number is 0, 1 or 2 in a process with images.
inline bool is_standard(int descriptor) { return static_cast<unsigned>(descriptor) <= 2 && captured(); }

/// The rank's number for a descriptor of the kernel's: the reverse of kernel_number().
int number_of(int real);

// These do what the C library's functions of these names do, with errno.

/// `caller`, here and below, is the return address of the function that programs call.
int duplicate(int descriptor, int lowest, bool closed_on_exec, const void* caller);
/// dup3() with `from` != `to`.
int replace(int from, int to, bool closed_on_exec, const void* caller);
int close(int descriptor, const void* caller = nullptr);
int close_range(unsigned first, unsigned last, int flags, const void* caller);
/// fcntl(F_GETFD) and fcntl(F_SETFD) for 0, 1 and 2.
int descriptor_flags(int descriptor);
int set_descriptor_flags(int descriptor, int flags);

/// Gives a new descriptor of the kernel's to the calling rank: it becomes the rank's lowest free number, if
/// the rank has closed one of the three. Code that all ranks share gets the kernel's number. Returns a
/// negative `made` unchanged. -1 with EMFILE, and the descriptor is closed, if it is beyond the limit that
/// the rank has set.
int place_lowest(int made, const void* caller);
/// The same for a descriptor that the C library has opened below a stream, and which keeps its number; null
/// with EMFILE. Returns null unchanged.
std::FILE* keep_stream(std::FILE* stream, const void* caller);

/// Makes `file`, which the caller gives away, one of the three.
void put(int descriptor, int file);
/// One of the three as a descriptor that belongs to the rank alone and may be closed; -1 with errno.
int make_private(int descriptor);
/// Notes that a descriptor is about to be closed in a way that close() does not see.
void note_closed(int descriptor);
/// Protects a descriptor of the kernel's that Clump needs: code of programs cannot close or replace it, as
/// some programs do that close all numbers from 3 on. Until let_go(), which comes before it is closed.
void protect(int real);
void let_go(int real);
/// Sets what the job's stream of this number is to the rank. `file` still belongs to the caller.
void give(Image& image, int descriptor, int file);

/// Whether the calling rank's three descriptors are the kernel's.
bool is_home();
/// Before capture().
void begin();
/// Whether this is a child of a rank, and not the process that the ranks share.
bool in_child();
/// Whether this is one that fork() has made, and a child of that.
bool has_forked();
/// Whether this is one that has its parent's memory, as that of vfork(): it must not change the tables.
bool has_memory_of_parent();
/// From now on the rank may have at most this many descriptors; RLIM_INFINITY: no limit of its own.
void limit_open_files(const fiber::Identity& rank, std::uint64_t most);
/// Called when the rank ends: closes what it has in place of the three.
void close_own(Image& image);
/// Called in a child that fork() has made. Async-signal-safe.
/// `may_use_streams`: not a child of _Fork(), in which the lock of another rank's stream may stay locked.
void go_home(bool may_use_streams);
/// The same in a child that has its parent's memory, as that of vfork(), before it executes a program.
/// Changes nothing in the parent. In the ranks' process it does nothing.
void go_home_for_exec();

/// The actions for posix_spawn(): those that make 0, 1 and 2 the calling rank's, and then the user's.
class ChildActions {
 public:
  explicit ChildActions(const posix_spawn_file_actions_t* user);
  ~ChildActions();
  ChildActions(const ChildActions&) = delete;
  ChildActions& operator=(const ChildActions&) = delete;

  /// The error of making this: 0, or an error number.
  int error() const { return error_; }
  const posix_spawn_file_actions_t* get() const { return has_own_ ? &own_ : user_; }

 private:
  void bring_home();
  void append_users();

  const posix_spawn_file_actions_t* user_;
  posix_spawn_file_actions_t own_{};
  bool has_own_ = false;
  int error_ = 0;
  int lifted_[3] = {-1, -1, -1};  ///< descriptors that live as long as this
};

/// glibc keeps the actions in an array of structures that are not public. They have always had this size.
inline constexpr std::size_t kFileActionBytes = 32;
/// Whether two kinds of actions have the layout that is expected: the kind, and at byte 8 what it needs.
bool knows_layout_of_actions();

/// The descriptor that `path` names, if it is one of the three (as for /dev/stdout); -1 otherwise.
int named_by(const char* path);

}  // namespace standard
}  // namespace clump::image
