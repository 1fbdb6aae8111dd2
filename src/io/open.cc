// Opening and closing files, and what is the same for all access: sizes, views, pointers.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <map>
#include <utility>

#include "coll/schedule/agree.h"
#include "core/rank.h"
#include "io/agreement.h"
#include "io/errors.h"
#include "io/file.h"
#include "net/shm/shared_allocator.h"

namespace clump::io {

namespace {

using base::Status;

constexpr int kAccess = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
constexpr int kAllModes = kAccess | MPI_MODE_APPEND | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE |
                          MPI_MODE_EXCL | MPI_MODE_SEQUENTIAL | MPI_MODE_UNIQUE_OPEN;
// In a word of its own.
constexpr std::size_t kSharedPointerBytes = 64;
// File domains within a process stay in a cache. Between processes each step costs a few messages, so they
// are larger.
constexpr Count kDomain = 1 << 20, kExchangeDomain = 8 << 20;

/// The files that ranks of this process have open, if anybody checks that they are closed.
class OpenFiles {
 public:
  void add(const File& file, const core::Rank& rank, const core::Site& site) {
    const std::lock_guard lock(mutex_);
    files_[&file] = {&rank, site};
  }
  void remove(const File& file) {
    const std::lock_guard lock(mutex_);
    files_.erase(&file);
  }
  std::vector<core::Site> sites_of(const core::Rank& rank) {
    const std::lock_guard lock(mutex_);
    std::vector<core::Site> found;
    for (const auto& [file, opened] : files_)
      if (opened.rank == &rank) found.push_back(opened.site);
    return found;
  }
  static OpenFiles& instance() {
    static auto& only = *new OpenFiles;
    return only;
  }

 private:
  struct Opened {
    const core::Rank* rank;
    core::Site site;
  };
  std::mutex mutex_;
  std::map<const File*, Opened> files_;
};

/// One rank of each process, in the order of the file's ranks.
std::vector<int> leaders_of(const core::Comm& comm, std::span<const int> process_of) {
  std::vector<int> leaders;
  std::vector<int> seen;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const int process = process_of[static_cast<std::size_t>(rank)];
    if (std::ranges::find(seen, process) != seen.end()) continue;
    seen.push_back(process);
    leaders.push_back(comm.group->world_rank(rank));
  }
  return leaders;
}

base::Ref<const View> plain_view() {
  const datatype::Ref bytes(datatype::predefined(MPI_BYTE));
  base::Ref<const View> view;
  static const auto& native = *new base::Ref<const Representation>(Representations().find("native"));
  static_cast<void>(View::make({0, bytes, bytes, native}, view));  // nothing is wrong with it
  return view;
}

}  // namespace

File::File(const std::string& name, core::Comm& comm, base::Ref<core::Errhandler> handler)
    : core::File(name, comm.group, std::move(handler)),
      rank_(comm.owner),
      counters_(core::access_counters_of(comm.owner)),
      view_(plain_view()) {}

File::~File() { OpenFiles::instance().remove(*this); }

std::vector<core::Site> File::sites_of_open(const core::Rank& rank) {
  return OpenFiles::instance().sites_of(rank);
}

Status File::check_amode(int amode) {
  const auto wrong = [&](const char* why) {
    return base::fail(MPI_ERR_AMODE, "(amode = {}): {}", amode, why);
  };
  if ((amode & ~kAllModes) != 0)
    return wrong("it has bits that are none of MPI_MODE_RDONLY, MPI_MODE_CREATE, ...");
  if (std::popcount(static_cast<unsigned>(amode & kAccess)) != 1)
    return wrong("exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR is needed");
  if ((amode & MPI_MODE_RDONLY) != 0 && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return wrong("MPI_MODE_CREATE and MPI_MODE_EXCL need MPI_MODE_WRONLY or MPI_MODE_RDWR");
  if ((amode & MPI_MODE_RDWR) != 0 && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return wrong("MPI_MODE_SEQUENTIAL needs MPI_MODE_RDONLY or MPI_MODE_WRONLY");
  return {};
}

Status File::open(core::Comm& user_comm, const Opening& opening, base::Ref<File>& file) {
  CLUMP_TRY(agree_same(user_comm, check_amode(opening.amode), "amode", opening.amode));
  const base::Ref<File> made(new File(opening.name, user_comm, user_comm.owner.file_errhandler.get()));
  made->amode_ = opening.amode;
  made->hints = opening.hints;
  CLUMP_TRY(made->agree_on_comm(user_comm));
  if (made->hints.buffer_bytes == 0)
    made->hints.buffer_bytes = made->is_in_one_process() ? kDomain : kExchangeDomain;
  CLUMP_TRY(made->open_everywhere(opening));
  CLUMP_TRY(made->share_pointer());
  if (core::Site::current != nullptr) OpenFiles::instance().add(*made, user_comm.owner, *core::Site::current);
  file = made;
  return {};
}

/// The communicators: one for the ranks of the file, and two of the processes' leaders, for calls that block
/// and for the background.
Status File::agree_on_comm(core::Comm& user_comm) {
  std::array<int, 3> contexts{};
  if (user_comm.rank == 0)
    for (int& context : contexts) context = static_cast<int>(user_comm.new_context());
  CLUMP_TRY(coll::share_ints(coll::Members(user_comm, coll::Caller::kFile), contexts));
  const auto make = [&](int context, base::Ref<const core::Group> its_group) {
    return base::make_ref<core::Comm>(rank_, core::ContextId{static_cast<std::uint32_t>(context)},
                                      std::move(its_group), base::Ref<const core::Group>());
  };
  comm_ = make(contexts[0], user_comm.group);
  comm_->errhandler.set(core::Errhandler::returns());
  opened_ = OpenedFile::shared(*comm_, name);
  if (is_in_one_process()) return {};
  // A process is told by its leader.
  std::vector<int> process_of(static_cast<std::size_t>(comm_->size()));
  CLUMP_TRY(allgather(*comm_, opened_->members().front(), std::span(process_of)));
  if (!leads()) return {};
  leaders_ = make(contexts[1], core::Group::of(leaders_of(*comm_, process_of), comm_->group->origin()));
  leaders_->errhandler.set(core::Errhandler::returns());
  const base::Ref<core::Comm> in_background = make(contexts[2], leaders_->group);
  in_background->errhandler.set(core::Errhandler::returns());
  exchanges_ = std::make_shared<ExchangeQueue>(opened_, in_background);
  return {};
}

/// Rank 0 first, because it alone may create the file; then a rank of each other process.
Status File::open_everywhere(const Opening& opening) {
  const bool first = comm_->rank == 0;
  CLUMP_TRY(agree(*comm_, first ? opened_->open(opening.amode, opening.hints, true) : Status()));
  if (is_in_one_process()) return {};
  return agree(*comm_, !first && leads() ? opened_->open(opening.amode, opening.hints, false) : Status());
}

/// Puts the shared pointer to where all ranks find it, and both pointers to where they begin.
Status File::share_pointer() {
  Count begin = 0;
  if ((amode_ & MPI_MODE_APPEND) != 0 && comm_->rank == 0)
    begin = std::max(Count{0}, size_of(opened_->target));
  CLUMP_TRY(share(*comm_, begin));
  pointer_ = begin;
  CLUMP_TRY(place_pointer(begin));
  CLUMP_TRY(synchronize(*comm_));
  shared_.place(*comm_, opened_->shared_word);
  return {};
}

/// Chooses where the pointer is: in memory of rank 0's process or, if it is not the only one there, of rank
/// 0's node. Processes that cannot access it ask rank 0. Collective.
Status File::place_pointer(Count begin) {
  if (leads()) opened_->own_word.store(begin, std::memory_order_relaxed);  // ordered by synchronize()
  if (is_in_one_process()) return {};
  const core::World& world = rank_.world;
  net::SharedAllocator* const memory = world.shared_allocator.get();
  const auto is_near = [&](int leader) {
    return world.share_node(leaders_->group->world_rank(leader), comm_->group->world_rank(0));
  };
  int near = 0;
  for (int leader = 0; leads() && leader < leaders_->size(); ++leader) near += is_near(leader) ? 1 : 0;
  Count place = -1;
  if (comm_->rank == 0 && memory != nullptr && near > 1) place = memory->allocate(kSharedPointerBytes);
  CLUMP_TRY(share(*comm_, place));
  if (!leads()) return {};
  if (place >= 0 && is_near(leaders_->rank))
    opened_->shared_word = reinterpret_cast<SharedWord*>(memory->at(place));
  else if (comm_->rank != 0)
    opened_->shared_word = nullptr;
  if (comm_->rank != 0) return {};
  opened_->shared_place = place;
  opened_->shared_word->store(begin, std::memory_order_relaxed);
  if (place < 0 || near < leaders_->size())
    answers_ = std::make_unique<PointerService>(*comm_, *opened_->shared_word);
  return {};
}

Status File::close() {
  {
    const std::lock_guard lock(mutex_);
    if (split_)
      return base::fail(MPI_ERR_OTHER, "{}_begin was called, and its {}_end was not: call it first",
                        split_->call, split_->call);
  }
  // A request that was freed may not have ended.
  if (exchanges_ != nullptr) exchanges_->finish();
  CLUMP_TRY(synchronize(*comm_));
  answers_.reset();
  // After a call that has failed, a further one does no more than this. All ranks have called it as often.
  const bool again = std::exchange(is_closed_, true);
  const bool deletes = !again && (amode_ & MPI_MODE_DELETE_ON_CLOSE) != 0;
  Status outcome;
  if (leads()) outcome = opened_->close(!deletes);
  if (deletes) {
    outcome = {};  // data that is deleted with its file
    if (!is_in_one_process()) CLUMP_TRY(synchronize(*comm_));
    if (comm_->rank == 0 && ::unlink(name.c_str()) != 0) outcome = system_error(errno, "delete", name);
  }
  if (comm_->rank == 0 && opened_->shared_place >= 0)
    rank_.world.shared_allocator->release(std::exchange(opened_->shared_place, -1), kSharedPointerBytes);
  return agree(*comm_, outcome);
}

Status File::size(Count& bytes) const {
  struct stat about = {};
  if (::fstat(opened_->target.descriptor, &about) != 0) return system_error(errno, "find the size of", name);
  bytes = about.st_size;
  return {};
}

Status File::set_size(Count bytes) {
  Status outcome = check_no_split();
  if (outcome.ok()) outcome = check_direction(Direction::kWrite);
  if (outcome.ok() && bytes < 0) outcome = base::fail(MPI_ERR_ARG, "(size = {}): it is negative", bytes);
  CLUMP_TRY(agree_same(*comm_, outcome, "size", bytes));
  if (comm_->rank == 0) outcome = opened_->set_size(bytes);
  return agree(*comm_, outcome);
}

Status File::preallocate(Count bytes) {
  Status outcome = check_no_split();
  if (outcome.ok()) outcome = check_direction(Direction::kWrite);
  if (outcome.ok() && bytes < 0) outcome = base::fail(MPI_ERR_ARG, "(size = {}): it is negative", bytes);
  CLUMP_TRY(agree_same(*comm_, outcome, "size", bytes));
  if (comm_->rank == 0 && bytes > 0) {
    opened_->is_written.store(true, std::memory_order_relaxed);
    int reason;
    do reason = ::posix_fallocate(opened_->target.descriptor, 0, bytes);
    while (reason == EINTR);
    if (reason != 0) outcome = system_error(reason, fmt::format("allocate {} bytes of", bytes), name);
  }
  return agree(*comm_, outcome);
}

bool File::may_be_on_several_hosts() const {
  const auto number_of = [&](int rank) { return comm_->group->world_rank(rank); };
  for (int rank = 1; rank < comm_->size(); ++rank)
    if (!rank_.world.share_node(number_of(rank), number_of(0))) return true;
  return false;
}

Status File::sync() {
  Status outcome = check_no_split();
  // What other processes have written has to be with the system before one of them asks for it.
  CLUMP_TRY(agree(*comm_, outcome));
  if (leads() && (amode_ & MPI_MODE_RDONLY) == 0) outcome = opened_->sync();
  CLUMP_TRY(agree(*comm_, outcome));
  if (!may_be_on_several_hosts()) return {};
  if (leads()) opened_->forget_cached(comm_->rank);
  return synchronize(*comm_);
}

base::Ref<const View> File::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

Status File::set_view(const View::Arguments& arguments, Status checked) {
  base::Ref<const View> view;
  if (checked.ok()) checked = check_no_split();
  View::Arguments effective = arguments;
  const bool sequential = (amode_ & MPI_MODE_SEQUENTIAL) != 0;
  if (checked.ok() && sequential != (arguments.displacement == MPI_DISPLACEMENT_CURRENT))
    checked = base::fail(
        MPI_ERR_DISP,
        "(disp = {}): it has to be MPI_DISPLACEMENT_CURRENT with MPI_MODE_SEQUENTIAL, and may not be "
        "otherwise",
        arguments.displacement);
  if (checked.ok() && sequential) {
    const Count at = shared_pointer();
    const base::Ref<const View> now = this->view();
    effective.displacement = now->is_empty() ? 0 : now->offset_of(at * now->etype_bytes());
  }
  if (checked.ok()) checked = View::make(effective, view);
  if (checked.ok() && view->etype_bytes() > 0 && (amode_ & MPI_MODE_RDONLY) == 0 && view->overlaps())
    checked = base::fail(MPI_ERR_IO, "(filetype): bytes of it overlap; such a view can only be read");
  if (checked.ok() && opened_->target.is_stream && view->etype_bytes() > 0 && !view->is_contiguous())
    checked =
        base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                   "(filetype): it has gaps, and \"{}\" is a pipe or the like, which has no places", name);
  CLUMP_TRY(agree_same(*comm_, checked, "extent of etype", checked.ok() ? arguments.etype->extent() : 0));
  {
    const std::lock_guard lock(mutex_);
    view_ = view;
    pointer_ = 0;
  }
  if (comm_->rank == 0) shared_.set(0);
  return synchronize(*comm_);
}

Status File::set_atomic(bool atomic) {
  CLUMP_TRY(agree_same(*comm_, check_no_split(), "flag", atomic ? 1 : 0));
  Status outcome;
  if (atomic &&
      leads()) {  // whether the file system has locks is known now, and not in the middle of an access
    outcome = opened_->lock(0, 1);
    if (outcome.ok()) opened_->unlock(0, 1);
  }
  CLUMP_TRY(agree(*comm_, outcome));
  atomic_.store(atomic, std::memory_order_relaxed);
  return {};
}

Count File::pointer() const {
  const std::lock_guard lock(mutex_);
  return pointer_;
}

Status File::end_of_file(const View& view, Count& etypes) const {
  Count bytes = 0;
  CLUMP_TRY(size(bytes));
  const Count position = view.position_of(bytes);
  etypes = (position + view.etype_bytes() - 1) / view.etype_bytes();
  return {};
}

namespace {

/// Where a pointer goes to. `now` and `end` are in etypes.
Status sought(Count offset, int whence, Count now, Count end, Count& result) {
  Count from = 0;
  switch (whence) {
    case MPI_SEEK_SET:
      break;
    case MPI_SEEK_CUR:
      from = now;
      break;
    case MPI_SEEK_END:
      from = end;
      break;
    default:
      return base::fail(MPI_ERR_ARG,
                        "(whence = {}): it is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END", whence);
  }
  if (__builtin_add_overflow(from, offset, &result) || result < 0)
    return base::fail(
        MPI_ERR_ARG, "(offset = {}): the pointer would go to {}, which is no place in the view", offset,
        static_cast<Count>(static_cast<std::uint64_t>(from) + static_cast<std::uint64_t>(offset)));
  return {};
}

}  // namespace

Status File::seek(Count offset, int whence) {
  if ((amode_ & MPI_MODE_SEQUENTIAL) != 0)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "the file was opened with MPI_MODE_SEQUENTIAL, which has no individual pointer");
  Count end = 0, result = 0;
  if (whence == MPI_SEEK_END) CLUMP_TRY(end_of_file(*view(), end));
  const std::lock_guard lock(mutex_);
  CLUMP_TRY(sought(offset, whence, pointer_, end, result));
  pointer_ = result;
  return {};
}

Status File::seek_shared(Count offset, int whence) {
  Status outcome = check_no_split();
  if (outcome.ok() && (amode_ & MPI_MODE_SEQUENTIAL) != 0)
    outcome = base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                         "the file was opened with MPI_MODE_SEQUENTIAL, which is not sought in");
  CLUMP_TRY(agree_same(*comm_, outcome, "offset", offset));
  CLUMP_TRY(agree_same(*comm_, outcome, "whence", whence));
  Count now = 0, end = 0, result = 0;
  if (comm_->rank == 0) now = shared_pointer();
  CLUMP_TRY(share(*comm_, now));
  if (whence == MPI_SEEK_END) outcome = end_of_file(*view(), end);
  if (outcome.ok()) outcome = sought(offset, whence, now, end, result);
  CLUMP_TRY(agree(*comm_, outcome));
  if (comm_->rank == 0) shared_.set(result);
  return synchronize(*comm_);
}

}  // namespace clump::io
