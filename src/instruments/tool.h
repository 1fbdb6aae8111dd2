// What a rank keeps for its tools between MPI_T_init_thread and MPI_T_finalize: sessions, and the handles of
// meters, controls and events (MPI-5.0 sections 15.3.6 to 15.3.8).
//
// Any thread of the rank may call anything; one lock, because nothing here is in a hurry. All failures are
// codes MPI_T_ERR_* without a text: functions of this interface return them and call no error handler.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "core/handle_table.h"
#include "core/rank.h"
#include "instruments/catalogue.h"
#include "instruments/event_dispatcher.h"
#include "instruments/readings.h"

namespace clump::instruments {

class Tool final : public core::ToolState {
 public:
  /// The rank's, made when it is asked for first.
  static Tool& of(core::Rank& rank);
  /// The rank's between init and finalize; null otherwise.
  static Tool* ready(core::Rank* rank) {
    if (rank == nullptr) return nullptr;
    // acquire: pairs with the release in of().
    auto* const tool = static_cast<Tool*>(rank->tool.load(std::memory_order_acquire));
    return tool != nullptr && tool->users_.load(std::memory_order_acquire) > 0 ? tool : nullptr;
  }

  explicit Tool(core::Rank& rank) : rank(rank), dispatcher(rank) {}
  ~Tool() override;

  core::Rank& rank;
  EventDispatcher dispatcher;

  void begin();
  /// The last end of as many as there were begins frees all that is left.
  void end();

  // Controls. `object` is the address of the MPI object's handle where there is one.
  base::Status open(const Control& control, MPI_T_cvar_handle& handle);
  base::Status close(MPI_T_cvar_handle handle);
  /// Null: there is no such handle.
  const Control* control(MPI_T_cvar_handle handle);

  // Meters.
  MPI_T_pvar_session new_session();
  base::Status end_session(MPI_T_pvar_session session);
  /// `values` becomes their number.
  base::Status open(MPI_T_pvar_session session, const Meter& meter, const void* object,
                    MPI_T_pvar_handle& handle, int& values);
  base::Status close(MPI_T_pvar_session session, MPI_T_pvar_handle handle);

  enum class Turn : std::uint8_t { kStart, kStop, kReset };
  /// Also for MPI_T_PVAR_ALL_HANDLES.
  base::Status turn(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Turn how);
  base::Status read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* out, bool and_reset);
  base::Status write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* values);

  // Events.
  base::Status open(const EventKind& kind, const void* object, MPI_T_event_registration& handle);
  base::Status close(MPI_T_event_registration handle);
  bool knows(MPI_T_event_registration handle);
  base::Status set_callback(MPI_T_event_registration handle, MPI_T_cb_safety safety,
                            Interest::Callback callback);
  base::Status set_dropped(MPI_T_event_registration handle, MPI_T_event_dropped_cb_function* function);

 private:
  struct Session {};
  /// A meter as one session sees it.
  struct View {
    MPI_T_pvar_session session;
    const Meter& meter;
    Bound bound;
    bool started;
    std::vector<std::uint64_t> before;  ///< sums: counted while it was started earlier, and what was written
    std::vector<std::uint64_t> since;   ///< sums: what the meter showed when it was started
    EventDispatcher::Mark mark;
  };

  base::Status bind(const void* object, Bound& bound) const;
  base::Status find(MPI_T_pvar_session session, MPI_T_pvar_handle handle, View*& view);
  std::vector<std::uint64_t> show(const View& view);
  void start(View& view);
  void stop(View& view);
  void reset(View& view);
  base::Status turn(View& view, Turn how);
  void remove(View& view);

  std::atomic<int> users_{0};
  std::mutex mutex_;
  core::HandleTable<const Control> controls_;
  core::HandleTable<Session> sessions_;
  core::HandleTable<View> views_;
  core::HandleTable<Interest> registrations_;
};

}  // namespace clump::instruments
