// Functions of the tool information interface that are handed objects or functions (MPI-5.0 chapter 15). Its
// handles are addresses in both ABIs.
#include <utility>

#include "abi_library.h"
#include "callbacks.h"
#include "entry.h"
#include "pool.h"

using namespace clump::facade;  // NOLINT: the functions below are of no namespace

namespace {

/// The object that a variable or an event is bound to: the program gives the address of its handle.
class BoundObject {
 public:
  BoundObject(void* handle, int bind) : given_(handle) {
    if (handle == nullptr) return;
    switch (bind) {
      case MPI_T_BIND_MPI_COMM:
        set<Comm>();
        break;
      case MPI_T_BIND_MPI_DATATYPE:
        set<Datatype>();
        break;
      case MPI_T_BIND_MPI_ERRHANDLER:
        set<Errhandler>();
        break;
      case MPI_T_BIND_MPI_FILE:
        set<File>();
        break;
      case MPI_T_BIND_MPI_GROUP:
        set<Group>();
        break;
      case MPI_T_BIND_MPI_OP:
        set<Op>();
        break;
      case MPI_T_BIND_MPI_REQUEST:
        set<Request>();
        break;
      case MPI_T_BIND_MPI_WIN:
        set<Win>();
        break;
      case MPI_T_BIND_MPI_MESSAGE:
        set<Message>();
        break;
      case MPI_T_BIND_MPI_INFO:
        set<Info>();
        break;
      case MPI_T_BIND_MPI_SESSION:
        set<Session>();
        break;
      default:
        break;
    }
  }
  void* place() { return is_set_ ? &own_ : given_; }

 private:
  template <typename Handle>
  void set() {
    own_ = standard(*static_cast<Handle*>(given_));
    is_set_ = true;
  }
  void* given_;
  void* own_ = nullptr;
  bool is_set_ = false;
};

int bind_of_cvar(int index) {
  int bind = MPI_T_BIND_NO_OBJECT;
  abi::T_cvar_get_info()(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind,
                         nullptr);
  return bind;
}
int bind_of_pvar(int index) {
  int bind = MPI_T_BIND_NO_OBJECT;
  abi::T_pvar_get_info()(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &bind,
                         nullptr, nullptr, nullptr);
  return bind;
}
int bind_of_event(int index) {
  int bind = MPI_T_BIND_NO_OBJECT;
  abi::T_event_get_info()(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                          nullptr, nullptr, &bind);
  return bind;
}

int safety_to_program(MPI_T_cb_safety safety) { return program(kSafety, static_cast<int>(safety)); }

struct EventCallback {
  void (*function)(MPI_T_event_instance, MPI_T_event_registration, int safety, void* user_data);
  void* user_data;
};
struct FreeCallback {
  void (*function)(MPI_T_event_registration, int safety, void* user_data);
  void* user_data;
};
using DroppedFunction = void (*)(MPI_Count, MPI_T_event_registration, int source, int safety,
                                 void* user_data);

void tell(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety,
          void* self) {
  const EventCallback& known = *static_cast<EventCallback*>(self);
  known.function(event, registration, safety_to_program(safety), known.user_data);
}
void tell_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* self) {
  const FreeCallback known = *static_cast<FreeCallback*>(self);
  std::free(self);
  known.function(registration, safety_to_program(safety), known.user_data);
}

constexpr int kDroppedFunctions = 64;
template <int kNumber>
void tell_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                  void* self);
template <int... kNumbers>
constexpr auto dropped_functions(std::integer_sequence<int, kNumbers...>) {
  return Functions<DroppedFunction, MPI_T_event_dropped_cb_function*, kDroppedFunctions>{
      {tell_dropped<kNumbers>...}};
}
constexpr auto kTellDropped = dropped_functions(std::make_integer_sequence<int, kDroppedFunctions>());
constinit Pool<DroppedFunction, MPI_T_event_dropped_cb_function*, kDroppedFunctions> dropped_pool(
    kTellDropped.all);

/// The function of the standard gets no data of its own but that of the event's callback: `self` is what
/// tell() gets, too.
template <int kNumber>
void tell_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                  void* self) {
  void* const user_data = self != nullptr ? static_cast<EventCallback*>(self)->user_data : nullptr;
  dropped_pool[kNumber](count, registration, source, safety_to_program(safety), user_data);
}

}  // namespace

CLUMP_ENTRY(int, MPI_T_cvar_handle_alloc, (int index, void* object, MPI_T_cvar_handle* handle, int* count)) {
  BoundObject bound(object, bind_of_cvar(index));
  return program_code(abi::T_cvar_handle_alloc()(index, bound.place(), handle, count));
}
CLUMP_ENTRY(int, MPI_T_pvar_handle_alloc,
            (MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle, int* count)) {
  BoundObject bound(object, bind_of_pvar(index));
  return program_code(abi::T_pvar_handle_alloc()(session, index, bound.place(), handle, count));
}
CLUMP_ENTRY(int, MPI_T_event_handle_alloc,
            (int index, void* object, Info info, MPI_T_event_registration* registration)) {
  BoundObject bound(object, bind_of_event(index));
  return program_code(abi::T_event_handle_alloc()(index, bound.place(), standard(info), registration));
}

CLUMP_ENTRY(int, MPI_T_event_register_callback,
            (MPI_T_event_registration registration, int safety, Info info, void* user_data,
             decltype(EventCallback::function) function)) {
  static constinit KeptOnce<EventCallback> callbacks;  // of a registration that is freed one may still run
  EventCallback* const own = function != nullptr ? callbacks.copy_of({function, user_data}) : nullptr;
  if (own == nullptr && function != nullptr) return program_code(MPI_T_ERR_MEMORY);
  return program_code(
      abi::T_event_register_callback()(registration, static_cast<MPI_T_cb_safety>(standard(kSafety, safety)),
                                       standard(info), own, own != nullptr ? tell : nullptr));
}
CLUMP_ENTRY(int, MPI_T_event_handle_free,
            (MPI_T_event_registration registration, void* user_data,
             decltype(FreeCallback::function) function)) {
  FreeCallback* const own = function != nullptr ? kept(FreeCallback{function, user_data}) : nullptr;
  if (own == nullptr && function != nullptr) return program_code(MPI_T_ERR_MEMORY);
  const int code = abi::T_event_handle_free()(registration, own, own != nullptr ? tell_freed : nullptr);
  if (code != MPI_SUCCESS) std::free(own);
  return program_code(code);
}
CLUMP_ENTRY(int, MPI_T_event_set_dropped_handler,
            (MPI_T_event_registration registration, DroppedFunction function)) {
  MPI_T_event_dropped_cb_function* const own =
      function != nullptr ? dropped_pool.standard_of(function) : nullptr;
  if (own == nullptr && function != nullptr) return program_code(MPI_T_ERR_MEMORY);
  return program_code(abi::T_event_set_dropped_handler()(registration, own));
}
