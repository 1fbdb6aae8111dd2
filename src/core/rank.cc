#include "core/rank.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "net/link/link_channel.h"
#include "net/shm/shared_allocator.h"

namespace clump::core {

namespace {

bool is_predefined(std::intptr_t value) { return value > 0 && value < kPredefinedHandles; }

/// The objects behind the handles of predefined operations and error handlers: the same for all ranks.
Op* predefined_op(MPI_Op handle) {
  static const auto& ops = *new auto([] {
    std::array<base::Ref<Op>, 0x40> table;
    for (const MPI_Op op : {MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND,
                            MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP})
      table[value_of(op)] = base::make_ref<Op>(op);
    return table;
  }());
  const std::intptr_t value = value_of(handle);
  return value < static_cast<std::intptr_t>(ops.size()) ? ops[value].get() : nullptr;
}

Errhandler* predefined_errhandler(MPI_Errhandler handle) {
  static const auto &fatal = *new auto(Errhandler::fatal()), &abort = *new auto(Errhandler::abort()),
                    &returns = *new auto(Errhandler::returns());
  if (handle == MPI_ERRORS_ARE_FATAL) return fatal.get();
  if (handle == MPI_ERRORS_ABORT) return abort.get();
  if (handle == MPI_ERRORS_RETURN) return returns.get();
  return nullptr;
}

template <typename Handle, typename T>
Handle add_to(HandleTable<T>& table, base::Ref<T> object) {
  return handle_of<Handle>(table.insert(object.release_to_owner()));
}

template <typename T>
base::Ref<T> remove_from(HandleTable<T>& table, std::intptr_t value) {
  return base::Ref<T>::adopt(table.remove(value));
}

template <typename T, typename Chosen>
void drop_if(HandleTable<T>& table, Chosen chosen) {
  for (T* object : table.remove_if(chosen)) base::Ref<T>::adopt(object);
}

template <typename T>
void drop_all(HandleTable<T>& table) {
  drop_if(table, [](const T&) { return true; });
}

/// The predefined communicators: those of context 0, 2, 4 and 6.
base::Ref<Comm> predefined(Rank& owner, std::uint32_t context, base::Ref<const Group> group) {
  auto comm = base::make_ref<Comm>(owner, ContextId{context}, std::move(group), base::Ref<const Group>());
  comm->outlive_references(true);
  return comm;
}

}  // namespace

World::World() = default;

ContextId World::allocate_crossing_context() {
  std::uint32_t context = 0;
  const base::Status made = link->new_context(context);
  if (!made.ok()) abort_job(launch.first, made.error_class(), base::message_of(made.code()));
  return ContextId{context};
}

bool World::share_node(int rank, int other) const {
  const auto is_elsewhere = [&](int one) { return link != nullptr && link->is_place(one); };
  return node_of(rank) == node_of(other) && !is_elsewhere(rank) && !is_elsewhere(other);
}

bool World::is_before(int rank, int other) const {
  if (link == nullptr || !link->has_places()) return rank < other;
  return link->name_of(rank) < link->name_of(other);
}

World::~World() = default;

std::string World::at(const Site& site) const {
  if (find_in_code == nullptr || site.address == nullptr) return {};
  return " at " + name_in_code(find_in_code(site.address));
}

Rank::Rank(World& world, Launch& launch, int number) : world(world), launch(launch), number(number) {
  const base::Ref<const Group> everyone = Group::regular(launch.size, launch.first);
  comm_world = predefined(*this, 0, everyone);
  comm_world->handle = MPI_COMM_WORLD;
  comm_world->name.set("MPI_COMM_WORLD");
  comm_self = predefined(*this, 2, Group::regular(1, number));
  comm_self->handle = MPI_COMM_SELF;
  comm_self->name.set("MPI_COMM_SELF");
  comm_founding = predefined(*this, 4, everyone);
  comm_job = predefined(*this, 6, Group::regular(world.places()));
  comm_job->name.set("the communicator of all ranks of the job");
  [[maybe_unused]] const std::intptr_t first = requests_.insert(&completed_request());
  assert(handle_of<MPI_Request>(first) == kCompletedRequest);
}

Rank::~Rank() {
  while (Request* const request = spare_) {
    spare_ = request->next_spare_;
    delete request;
  }
  delete tool.load(std::memory_order_relaxed);
  delete ports.load(std::memory_order_relaxed);
  forget_all();
  drop_all(sessions_);
  drop_all(errhandlers_);
  infos_.for_each([](Info& info) { delete &info; });
  for (const base::Ref<Comm>* comm : {&comm_world, &comm_self, &comm_founding, &comm_job})
    (*comm)->outlive_references(false);
}

void Rank::show_world(bool usable) {
  usable_world_.store(usable ? comm_world.get() : nullptr, std::memory_order_relaxed);
  usable_self_.store(usable ? comm_self.get() : nullptr, std::memory_order_relaxed);
}

Session* Rank::session(Origin origin) {
  return sessions_.find_if([&](const Session& one) { return one.origin == origin; });
}

void Rank::forget(Origin origin) {
  if (origin == Origin::kWorld) {
    const std::lock_guard lock(parent.mutex);
    parent.comm = base::Ref<Comm>();
  }
  drop_if(windows_, [&](const Window& window) { return window.group->origin() == origin; });
  drop_if(files_, [&](const File& file) { return file.group->origin() == origin; });
  drop_if(comms_, [&](const Comm& comm) { return comm.group->origin() == origin; });
  drop_if(groups_, [&](const Group& group) { return group.origin() == origin; });
}

void Rank::forget_all() {
  // Requests first: those that are active keep what they need. No rank completes them any more.
  for (Request* request :
       requests_.remove_if([](const Request& one) { return &one != &completed_request(); })) {
    std::unique_ptr<Request> owned(request);
    if (owned->state != Request::State::kActive) continue;
    if (owned->kind != Request::Kind::kGeneralized) (void)owned->cancel();
    Request::detach(std::move(owned));
  }
  drop_all(windows_);
  for (Message* message : messages_.remove_if([](const Message&) { return true; })) delete message;
  drop_all(files_);
  drop_all(comms_);
  drop_all(groups_);
  {
    const std::lock_guard lock(datatypes_mutex_);
    type_attributes_.clear();
  }
  drop_all(datatypes_);
  drop_all(ops_);
  drop_all(keyvals_);
}

const Group* Rank::group(MPI_Group handle) const {
  static const auto& empty = *new auto(Group::regular(0));
  return handle == MPI_GROUP_EMPTY ? empty.get() : groups_.find(value_of(handle));
}

Op* Rank::op(MPI_Op handle) const {
  return is_predefined(value_of(handle)) ? predefined_op(handle) : ops_.find(value_of(handle));
}

Errhandler* Rank::errhandler(MPI_Errhandler handle) const {
  return is_predefined(value_of(handle)) ? predefined_errhandler(handle)
                                         : errhandlers_.find(value_of(handle));
}

Info* Rank::info(MPI_Info handle) const {
  return handle == MPI_INFO_ENV ? &launch.environments[static_cast<std::size_t>(launch.app_of(number))]
                                : infos_.find(value_of(handle));
}
Rank::Message* Rank::message(MPI_Message handle) const { return messages_.find(value_of(handle)); }
void Rank::remark(Remark::Kind kind, std::string_view text) const {
  if (sites == nullptr || Site::current == nullptr) return;
  sites->remark({kind, fmt::format("{}{} {}", Site::current->call, world.at(*Site::current), text)});
}

Keyval* Rank::keyval(int number) const { return keyvals_.find(number); }

std::size_t Rank::live(Handles kind) const {
  switch (kind) {
    case Handles::kComms:
      return comms_.live();
    case Handles::kGroups:
      return groups_.live();
    case Handles::kDatatypes:
      return datatypes_.live();
    case Handles::kOps:
      return ops_.live();
    case Handles::kRequests:
      return requests_.live() - 1 - static_cast<std::size_t>(spare_count_);  // 1: kCompletedRequest
    case Handles::kInfos:
      return infos_.live();
    case Handles::kErrhandlers:
      return errhandlers_.live();
    case Handles::kKeyvals:
      return keyvals_.live();
    case Handles::kMessages:
      return messages_.live();
    case Handles::kWindows:
      return windows_.live();
  }
  return 0;
}

MPI_Comm Rank::add(base::Ref<Comm> comm) {
  Comm* object = comm.get();
  return object->handle = add_to<MPI_Comm>(comms_, std::move(comm));
}

MPI_Group Rank::add(base::Ref<const Group> group) { return add_to<MPI_Group>(groups_, std::move(group)); }
MPI_Datatype Rank::add(datatype::Ref type) { return add_to<MPI_Datatype>(datatypes_, std::move(type)); }
MPI_Op Rank::add(base::Ref<Op> op) { return add_to<MPI_Op>(ops_, std::move(op)); }
MPI_Errhandler Rank::add(base::Ref<Errhandler> handler) {
  return add_to<MPI_Errhandler>(errhandlers_, std::move(handler));
}

MPI_Info Rank::add(std::unique_ptr<Info> info) {
  Info* object = info.release();
  return object->handle = handle_of<MPI_Info>(infos_.insert(object));
}

MPI_Message Rank::add(std::unique_ptr<Message> message) {
  return handle_of<MPI_Message>(messages_.insert(message.release()));
}

int Rank::add(base::Ref<Keyval> keyval) {
  Keyval* object = keyval.release_to_owner();
  return object->number = static_cast<int>(keyvals_.insert(object));
}

MPI_Session Rank::add(base::Ref<Session> session) {
  Session* object = session.get();
  return object->handle = add_to<MPI_Session>(sessions_, std::move(session));
}

MPI_Win Rank::add(base::Ref<Window> window) {
  Window* object = window.get();
  return object->handle = add_to<MPI_Win>(windows_, std::move(window));
}

base::Ref<Window> Rank::remove(MPI_Win handle) { return remove_from(windows_, value_of(handle)); }

MPI_File Rank::add(base::Ref<File> file) {
  File* object = file.get();
  return object->handle = add_to<MPI_File>(files_, std::move(file));
}

base::Ref<Comm> Rank::remove(MPI_Comm handle) { return remove_from(comms_, value_of(handle)); }
void Rank::remove(MPI_Group handle) { remove_from(groups_, value_of(handle)); }

void Rank::remove(MPI_Datatype handle) {
  datatype::Ref last;  // dropped after the lock
  const std::lock_guard lock(datatypes_mutex_);
  const auto held = std::ranges::find(held_types_, handle, &HeldType::handle);
  if (held != held_types_.end()) {
    held->freed = true;
    return;  // let_go() does the rest
  }
  const auto found = type_attributes_.find(handle);
  if (found != type_attributes_.end()) type_attributes_.erase(found);
  last = remove_from(datatypes_,
                     value_of(handle));  // under the lock: hold() never finds a type that is about to go
}

bool Rank::hold(MPI_Datatype handle, const datatype::Datatype& type) {
  const std::lock_guard lock(datatypes_mutex_);
  if (datatypes_.find(value_of(handle)) != &type) return false;
  const auto held = std::ranges::find(held_types_, handle, &HeldType::handle);
  if (held == held_types_.end())
    held_types_.push_back({handle, 1, false});
  else if (held->freed)
    return false;
  else
    ++held->uses;
  return true;
}

void Rank::let_go(MPI_Datatype handle) {
  {
    const std::lock_guard lock(datatypes_mutex_);
    const auto held = std::ranges::find(held_types_, handle, &HeldType::handle);
    if (--held->uses > 0) return;
    const bool freed = held->freed;
    held_types_.erase(held);
    if (!freed) return;
  }
  remove(handle);
}

Attributes* Rank::type_attributes(MPI_Datatype handle) {
  const std::lock_guard lock(datatypes_mutex_);
  const auto found = type_attributes_.find(handle);
  return found != type_attributes_.end() ? &found->second : nullptr;
}

Attributes& Rank::new_type_attributes(MPI_Datatype handle) {
  const std::lock_guard lock(datatypes_mutex_);
  return type_attributes_[handle];
}

bool Rank::is_type_attribute(int keyval) const {
  const Keyval* const live = keyvals_.find(keyval);
  const std::lock_guard lock(datatypes_mutex_);
  return std::ranges::any_of(type_attributes_,
                             [&](const auto& of) { return of.second.find(keyval, live).has_value(); });
}

void Rank::remove(MPI_Op handle) { remove_from(ops_, value_of(handle)); }
void Rank::remove(MPI_Errhandler handle) { remove_from(errhandlers_, value_of(handle)); }
void Rank::remove(MPI_Info handle) { delete infos_.remove(value_of(handle)); }
void Rank::remove_keyval(int number) { remove_from(keyvals_, number); }
base::Ref<Session> Rank::remove(MPI_Session handle) { return remove_from(sessions_, value_of(handle)); }
base::Ref<File> Rank::remove(MPI_File handle) { return remove_from(files_, value_of(handle)); }
std::unique_ptr<Rank::Message> Rank::remove(MPI_Message handle) {
  return std::unique_ptr<Message>(messages_.remove(value_of(handle)));
}

}  // namespace clump::core
