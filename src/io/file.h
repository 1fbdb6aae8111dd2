// File: an open file as one rank has it (MPI-5.0 chapter 14). What its functions do, without handles: the
// bodies in src/mpi/file*.cc check arguments that only the program can get wrong.
//
// An access goes this way:
//
//   body --> File::prepare(): a Transaction, in the view's terms and in the file's representation
//        --> independent: transfer() (transfer.h), by the caller or in the background (background.h)
//        --> collective: a Part of a Round (round.h); between processes by exchange.h, in the background by
//            exchange_queue.h
//
// Functions that say "collective" are called by all ranks of the file in the same order, and give all of them
// the same error. The others may be called by any thread of the rank.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/accesses.h"
#include "core/comm.h"
#include "core/file.h"
#include "core/request.h"
#include "core/site.h"
#include "io/exchange_queue.h"
#include "io/hints.h"
#include "io/opened.h"
#include "io/round.h"
#include "io/shared_pointer.h"
#include "io/view.h"

namespace clump::io {

class File;

/// A rank's part of an access from its call to its end: the access in the file's representation, and the
/// memory for that representation where it differs.
class Transaction {
 public:
  /// `users` is the program's buffer; `position` is in view bytes.
  base::Status prepare(core::Rank& rank, Direction direction, const datatype::Layout& users,
                       base::Ref<const View> view, Count position);
  /// What the program is told when `done` bytes of the access were moved; data that was read is converted
  /// first.
  base::Status finish(core::Rank& rank, Count done, core::Result& result);

  Access access;
  bool by_rank_only = false;  ///< functions of the program convert: finish() is for threads of the rank

 private:
  datatype::Layout users_;
  std::unique_ptr<std::byte[]> converted_;
  Count item_bytes_ = 0;  // in the file, where data is converted
};

/// Where an access begins.
struct Place {
  enum class Pointer : std::uint8_t {
    kExplicit,
    kIndividual,
    kShared,
    kOrdered,  ///< the shared pointer, which was moved for all ranks together; `offset` is the rank's part
  };
  Pointer pointer = Pointer::kExplicit;
  Count offset = 0;  ///< kExplicit, kOrdered: in etypes
};

/// A call that reads or writes.
struct Operands {
  Direction direction;
  Place place;
  datatype::Layout memory;
};

class File final : public core::File {
 public:
  ~File() override;
  /// Opens `name` for the ranks of `user_comm`. Collective.
  struct Opening {
    std::string name;
    int amode = 0;
    Hints hints;
  };
  static base::Status open(core::Comm& user_comm, const Opening& opening, base::Ref<File>& file);
  /// Collective. Writes all data to the medium, and ends the descriptors; deletes the file if it was opened
  /// so. If it fails, the file is closed all the same; a further call does nothing and succeeds.
  base::Status close();
  /// The one behind an object of the layers below.
  static File& of(core::File& file) { return static_cast<File&>(file); }
  /// Where the program has opened each file that a rank has open; for mpiexec --check, without which nothing
  /// is known.
  static std::vector<core::Site> sites_of_open(const core::Rank& rank);

  int amode() const { return amode_; }
  core::Comm& comm() { return *comm_; }
  OpenedFile& opened() { return *opened_; }
  Hints hints;  ///< changed by collective calls alone

  // Sizes.
  base::Status size(Count& bytes) const;
  base::Status set_size(Count bytes);     // collective
  base::Status preallocate(Count bytes);  // collective
  base::Status sync();                    // collective

  // Views and pointers.
  base::Ref<const View> view() const;
  /// Sets both pointers to 0. Collective.
  base::Status set_view(const View::Arguments& arguments, base::Status checked);
  bool atomic() const { return atomic_.load(std::memory_order_relaxed); }
  base::Status set_atomic(bool atomic);  // collective
  Count pointer() const;
  base::Status seek(Count offset, int whence);
  Count shared_pointer() { return shared_.value(); }
  base::Status seek_shared(Count offset, int whence);  // collective

  // Access. `request`: the operation goes on after the call; null: it does not.
  base::Status access(const Operands& operands, core::Result& result);
  base::Status begin_access(const Operands& operands, MPI_Request* request);
  base::Status access_together(const Operands& operands, core::Result& result);        // collective
  base::Status begin_access_together(const Operands& operands, MPI_Request* request);  // collective
  base::Status access_in_order(const Operands& operands, core::Result& result);        // collective
  /// Split collectives (MPI-5.0 section 14.4.5). `call` names the calls for messages: "MPI_File_read_all".
  base::Status begin_split(const char* call, const Operands& operands, bool ordered);  // collective
  base::Status end_split(const char* call, core::Result& result);                      // collective

 private:
  File(const std::string& name, core::Comm& comm, base::Ref<core::Errhandler> handler);
  static base::Status check_amode(int amode);
  base::Status agree_on_comm(core::Comm& user_comm);
  base::Status open_everywhere(const Opening& opening);
  base::Status share_pointer();
  base::Status place_pointer(Count begin);
  base::Status check_direction(Direction direction) const;
  base::Status check_no_split() const;
  /// Takes the place of an access, and moves the pointer.
  base::Status take_place(const Operands& operands, const View& view, Count& position);
  base::Status prepare(const Operands& operands, Transaction& transaction);
  base::Status positions_in_order(const Operands& operands, Count& position);
  base::Status together(Transaction& transaction, base::Status prepared, core::Result& result);
  base::Status end_of_file(const View& view, Count& etypes) const;
  Manner manner(Direction direction) const;
  bool is_in_one_process() const {
    return opened_->members().size() == static_cast<std::size_t>(comm_->size());
  }
  bool may_be_on_several_hosts() const;
  bool leads() const { return opened_->members().front() == comm_->rank; }

  core::Rank& rank_;
  core::AccessCounters& counters_;
  base::Ref<core::Comm> comm_;     // for this file alone
  base::Ref<core::Comm> leaders_;  // of a leader: one rank of each process; null if there is one process
  base::Ref<OpenedFile> opened_;
  std::shared_ptr<ExchangeQueue> exchanges_;  // of a leader, if there are several processes
  int amode_ = 0;
  bool is_closed_ = false;  // by the first call of close(), though it may have failed
  std::atomic<bool> atomic_{false};
  std::uint64_t rounds_ = 0;
  SharedPointer shared_;
  std::unique_ptr<PointerService> answers_;  // of rank 0, if other ranks ask it

  mutable std::mutex mutex_;  // for what follows
  base::Ref<const View> view_;
  Count pointer_ = 0;  // in etypes

  struct Split {
    std::string call;
    MPI_Request request = MPI_REQUEST_NULL;
    base::Status outcome;
    core::Result result;
  };
  std::optional<Split> split_;
  friend class FileRequest;
};

}  // namespace clump::io
