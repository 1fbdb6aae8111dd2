#include "instruments/tool.h"

#include <algorithm>
#include <cstring>

namespace clump::instruments {

namespace {

using base::Status;
using core::handle_of;
using core::value_of;

Status failure(int code) { return Status::from_code(code); }

/// All objects of a table, whose handles are forgotten.
template <typename T>
std::vector<T*> empty(core::HandleTable<T>& table) {
  return table.remove_if([](const T&) { return true; });
}

}  // namespace

Tool& Tool::of(core::Rank& rank) {
  static std::mutex making;
  const std::lock_guard lock(making);
  if (core::ToolState* const known = rank.tool.load(std::memory_order_relaxed))
    return static_cast<Tool&>(*known);
  auto* const made = new Tool(rank);
  rank.tool.store(made, std::memory_order_release);  // release: pairs with the acquire in ready()
  return *made;
}

Tool::~Tool() {
  for (const View* view : empty(views_)) delete view;
  for (const Session* session : empty(sessions_)) delete session;
  for (const Interest* registration : empty(registrations_)) delete registration;
}

// Under the lock: what a thread makes after its begin() is not what the last end() before that frees.
void Tool::begin() {
  const std::lock_guard lock(mutex_);
  users_.fetch_add(1, std::memory_order_acq_rel);
}

void Tool::end() {
  std::vector<Interest*> registrations;
  {
    const std::lock_guard lock(mutex_);
    if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    registrations = empty(registrations_);
    empty(controls_);
    for (View* view : empty(views_)) {
      stop(*view);
      delete view;
    }
    for (const Session* session : empty(sessions_)) delete session;
  }
  // Without the lock: a callback that runs may want it.
  for (const Interest* const registration : registrations) {
    dispatcher.forget(registration->handle);
    delete registration;
  }
}

/// To the communicator whose handle `object` points to.
Status Tool::bind(const void* object, Bound& bound) const {
  if (object == nullptr) return failure(MPI_T_ERR_INVALID);
  const core::Comm* const comm = rank.comm(*static_cast<const MPI_Comm*>(object));
  if (comm == nullptr) return failure(MPI_T_ERR_INVALID);
  bound.context = static_cast<std::uint32_t>(comm->context);
  bound.peers = comm->is_inter() ? comm->remote_group : comm->group;
  return {};
}

Status Tool::open(const Control& control, MPI_T_cvar_handle& handle) {
  handle = handle_of<MPI_T_cvar_handle>(controls_.insert(&control));
  return {};
}

Status Tool::close(MPI_T_cvar_handle handle) {
  return controls_.remove(value_of(handle)) == nullptr ? failure(MPI_T_ERR_INVALID_HANDLE) : Status();
}

const Control* Tool::control(MPI_T_cvar_handle handle) { return controls_.find(value_of(handle)); }

MPI_T_pvar_session Tool::new_session() {
  return handle_of<MPI_T_pvar_session>(sessions_.insert(new Session));
}

Status Tool::end_session(MPI_T_pvar_session session) {
  const std::lock_guard lock(mutex_);
  const Session* const ended = sessions_.remove(value_of(session));
  if (ended == nullptr) return failure(MPI_T_ERR_INVALID_SESSION);
  delete ended;
  for (View* view : views_.remove_if([&](const View& v) { return v.session == session; })) {
    stop(*view);
    delete view;
  }
  return {};
}

Status Tool::open(MPI_T_pvar_session session, const Meter& meter, const void* object,
                  MPI_T_pvar_handle& handle, int& values) {
  const std::lock_guard lock(mutex_);
  if (sessions_.find(value_of(session)) == nullptr) return failure(MPI_T_ERR_INVALID_SESSION);
  Bound bound;
  if (meter.of_comm) CLUMP_TRY(bind(object, bound));
  values = values_of(meter, bound);
  auto view = std::unique_ptr<View>(new View{session, meter, std::move(bound), false, {}, {}, {}});
  view->before.resize(static_cast<std::size_t>(values));
  view->since.resize(static_cast<std::size_t>(values));
  handle = handle_of<MPI_T_pvar_handle>(views_.insert(view.release()));
  return {};
}

Status Tool::close(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const std::lock_guard lock(mutex_);
  View* view = nullptr;
  CLUMP_TRY(find(session, handle, view));
  views_.remove(value_of(handle));
  stop(*view);
  delete view;
  return {};
}

/// The caller holds the lock.
Status Tool::find(MPI_T_pvar_session session, MPI_T_pvar_handle handle, View*& view) {
  if (sessions_.find(value_of(session)) == nullptr) return failure(MPI_T_ERR_INVALID_SESSION);
  view = views_.find(value_of(handle));
  return view == nullptr || view->session != session ? failure(MPI_T_ERR_INVALID_HANDLE) : Status();
}

/// What the meter shows, or what the view shows of it.
std::vector<std::uint64_t> Tool::show(const View& view) {
  std::vector<std::uint64_t> values(view.before.size());
  if (view.meter.is_mark()) {
    values[0] = static_cast<std::uint64_t>(dispatcher.most(view.mark));
    return values;
  }
  instruments::read(rank, view.meter, view.bound, values.data());
  return values;
}

void Tool::start(View& view) {
  if (view.started) return;
  view.started = true;
  if (view.meter.is_mark())
    dispatcher.add_mark(view.mark);
  else
    view.since = show(view);
}

void Tool::stop(View& view) {
  if (!view.started) return;
  view.started = false;
  if (view.meter.is_mark()) return dispatcher.remove_mark(view.mark);
  const std::vector<std::uint64_t> now = show(view);
  for (std::size_t i = 0; i < now.size(); ++i) view.before[i] += now[i] - view.since[i];
}

void Tool::reset(View& view) {
  if (view.meter.is_mark()) {
    const Meter& level = *std::ranges::find(meters(), Reading::kUnexpected, &Meter::reading);
    std::uint64_t waiting = 0;
    instruments::read(rank, level, {}, &waiting);
    return dispatcher.set_most(view.mark, static_cast<Count>(waiting));
  }
  view.before.assign(view.before.size(), 0);
  if (view.started) view.since = show(view);
}

Status Tool::turn(View& view, Turn how) {
  const bool turns = view.meter.is_sum() || view.meter.is_mark();
  if (!turns) return failure(how == Turn::kReset ? MPI_T_ERR_PVAR_NO_WRITE : MPI_T_ERR_PVAR_NO_STARTSTOP);
  if (how == Turn::kStart) start(view);
  if (how == Turn::kStop) stop(view);
  if (how == Turn::kReset) reset(view);
  return {};
}

Status Tool::turn(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Turn how) {
  const std::lock_guard lock(mutex_);
  if (handle != MPI_T_PVAR_ALL_HANDLES) {
    View* view = nullptr;
    CLUMP_TRY(find(session, handle, view));
    return turn(*view, how);
  }
  if (sessions_.find(value_of(session)) == nullptr) return failure(MPI_T_ERR_INVALID_SESSION);
  // Those that cannot be turned are passed over (MPI-5.0 section 15.3.7).
  views_.for_each([&](View& view) {
    if (view.session == session) static_cast<void>(turn(view, how));
  });
  return {};
}

Status Tool::read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* out, bool and_reset) {
  const std::lock_guard lock(mutex_);
  View* view = nullptr;
  CLUMP_TRY(find(session, handle, view));
  if (and_reset && !view->meter.is_sum()) return failure(MPI_T_ERR_PVAR_NO_ATOMIC);
  const std::vector<std::uint64_t> now = show(*view);
  for (std::size_t i = 0; i < now.size(); ++i) {
    std::uint64_t value = now[i];
    if (view->meter.is_sum()) value = view->before[i] + (view->started ? now[i] - view->since[i] : 0);
    if (view->meter.is_state())
      static_cast<int*>(out)[i] = static_cast<int>(value);
    else
      static_cast<unsigned long long*>(out)[i] = value;
  }
  if (and_reset) {
    view->before.assign(now.size(), 0);
    view->since = now;
  }
  return {};
}

Status Tool::write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* values) {
  const std::lock_guard lock(mutex_);
  View* view = nullptr;
  CLUMP_TRY(find(session, handle, view));
  const auto* const given = static_cast<const unsigned long long*>(values);
  if (view->meter.is_mark()) {
    dispatcher.set_most(view->mark, static_cast<Count>(given[0]));
    return {};
  }
  if (!view->meter.is_sum()) return failure(MPI_T_ERR_PVAR_NO_WRITE);
  view->before.assign(given, given + view->before.size());
  if (view->started) view->since = show(*view);
  return {};
}

Status Tool::open(const EventKind& kind, const void* object, MPI_T_event_registration& handle) {
  auto made = std::make_unique<Interest>();
  made->kind = &kind;
  Bound bound;
  if (kind.of_comm) CLUMP_TRY(bind(object, bound));
  made->context = bound.context;
  const std::lock_guard lock(mutex_);
  Interest* const registration = made.release();
  registration->handle = handle_of<MPI_T_event_registration>(registrations_.insert(registration));
  handle = registration->handle;
  return {};
}

Status Tool::close(MPI_T_event_registration handle) {
  {
    const std::lock_guard lock(mutex_);
    const std::unique_ptr<Interest> gone(registrations_.remove(value_of(handle)));
    if (gone == nullptr) return failure(MPI_T_ERR_INVALID_HANDLE);
  }
  dispatcher.forget(handle);  // without the lock: a callback that runs may want it
  return {};
}

bool Tool::knows(MPI_T_event_registration handle) { return registrations_.find(value_of(handle)) != nullptr; }

Status Tool::set_callback(MPI_T_event_registration handle, MPI_T_cb_safety safety,
                          Interest::Callback callback) {
  const std::lock_guard lock(mutex_);
  Interest* const registration = registrations_.find(value_of(handle));
  if (registration == nullptr) return failure(MPI_T_ERR_INVALID_HANDLE);
  const auto* const level = std::ranges::find(Interest::kLevels, safety);
  if (level == std::end(Interest::kLevels)) return failure(MPI_T_ERR_INVALID);
  registration->callbacks[static_cast<std::size_t>(level - Interest::kLevels)] = callback;
  dispatcher.want(*registration);
  return {};
}

Status Tool::set_dropped(MPI_T_event_registration handle, MPI_T_event_dropped_cb_function* function) {
  const std::lock_guard lock(mutex_);
  Interest* const registration = registrations_.find(value_of(handle));
  if (registration == nullptr) return failure(MPI_T_ERR_INVALID_HANDLE);
  registration->dropped = function;
  dispatcher.want(*registration);
  return {};
}

}  // namespace clump::instruments
