// Caching (MPI-5.0 section 7.7): keys and attributes of communicators and datatypes, and the predefined
// attributes of communicators.
#include "mpi/attributes.h"

#include <mutex>
#include <optional>
#include <utility>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/entry/entry_checks.h"

namespace clump::mpi {

namespace {

using core::Attributes;
using core::Keyval;
using Kind = core::Keyval::Kind;

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kComm:
      return "communicators";
    case Kind::kType:
      return "datatypes";
    case Kind::kWin:
      return "windows";
  }
  return "";
}

bool is_predefined(int keyval) { return keyval > 0 && keyval < core::kPredefinedHandles; }

template <typename Copy, typename Delete>
base::Status create_keyval(core::Rank& self, Kind kind, Copy* copy, Delete* remove, int* keyval,
                           void* extra_state) {
  *keyval = self.add(base::make_ref<Keyval>(kind, reinterpret_cast<Keyval::Copy>(copy),
                                            reinterpret_cast<Keyval::Delete>(remove), extra_state));
  const std::lock_guard lock(self.freed_early.mutex);
  self.freed_early.keyvals.erase(*keyval);  // from here on the number is that of the new key
  return {};
}

/// A key as the user names it, for objects of one kind.
struct NamedKey {
  core::Rank& self;
  Kind kind;
  int number;
};

/// The user's key. No thread frees it during the call.
base::Status find_keyval(const NamedKey& named, base::Ref<Keyval>& found) {
  const int number = named.number;
  if (is_predefined(number))
    return base::fail(MPI_ERR_KEYVAL, "keyval {} is a predefined one, which can only be asked for its value",
                      number);
  Keyval* const keyval = named.self.keyval(number);
  if (keyval == nullptr)
    return base::fail(MPI_ERR_KEYVAL, "keyval {} is no key: it was freed, or never made", number);
  if (keyval->kind != named.kind)
    return base::fail(MPI_ERR_KEYVAL, "keyval {} is a key for {}, not for {}", number, name_of(keyval->kind),
                      name_of(named.kind));
  found = base::Ref(keyval);
  return {};
}

base::Status set_attribute(const NamedKey& named, Attributes& attributes, void* handle, void* value) {
  base::Ref<Keyval> keyval;
  CLUMP_TRY(find_keyval(named, keyval));
  return attributes.set(handle, keyval, value);
}

void answer(void* attribute_val, int* flag, void* value) {
  *flag = 1;
  *static_cast<void**>(attribute_val) = value;
}

// A key that the user has freed can still be named as long as the object has an attribute of it: that is how
// such an attribute is asked for, and deleted (MPI-5.0 section 7.7.2). `attributes`: null if there are none.

base::Status get_attribute(const NamedKey& named, const Attributes* attributes, void* attribute_val,
                           int* flag) {
  *flag = 0;
  if (attributes != nullptr) {
    if (const std::optional<void*> value = attributes->find(named.number, named.self.keyval(named.number))) {
      answer(attribute_val, flag, *value);
      return {};
    }
  }
  base::Ref<Keyval> keyval;
  return find_keyval(named, keyval);
}

base::Status delete_attribute(const NamedKey& named, Attributes* attributes, void* handle) {
  base::Ref<Keyval> keyval;
  if (attributes != nullptr) keyval = attributes->key(named.number, named.self.keyval(named.number));
  if (!keyval) CLUMP_TRY(find_keyval(named, keyval));
  return attributes != nullptr ? attributes->remove(handle, *keyval) : base::Status();
}

/// Some programs free a key in its delete function, and once more where they have made it: the second time it
/// is MPI_KEYVAL_INVALID by the standard (MPI-5.0 section 7.7.2), but other libraries take it.
base::Status free_keyval(core::Rank& self, Kind kind, int* number) {
  const std::lock_guard lock(self.freed_early.mutex);
  if (self.freed_early.keyvals.erase(*number) != 0) {
    self.remark(core::Remark::Kind::kUncommon, "frees a key that its delete function has freed");
    *number = MPI_KEYVAL_INVALID;
    return {};
  }
  base::Ref<Keyval> keyval;
  CLUMP_TRY(find_keyval({self, kind, *number}, keyval));
  if (keyval->being_deleted > 0) self.freed_early.keyvals.insert(*number);
  self.remove_keyval(*number);  // objects that have such an attribute still hold the key
  *number = MPI_KEYVAL_INVALID;
  return {};
}

/// MPI-5.0 section 9.1.2. The value of each is the address of an int, which lives as long as the process.
base::Status get_predefined(core::Rank& self, int keyval, void* attribute_val, int* flag) {
  static int tag_ub = kMaxTag, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, wtime_is_global = 1;
  switch (keyval) {
    case MPI_TAG_UB:
      answer(attribute_val, flag, &tag_ub);
      return {};
    case MPI_HOST:
      answer(attribute_val, flag, &host);
      return {};
    case MPI_IO:
      answer(attribute_val, flag, &io);
      return {};
    case MPI_WTIME_IS_GLOBAL:
      answer(attribute_val, flag, &wtime_is_global);
      return {};
    case MPI_APPNUM:
      answer(attribute_val, flag, &self.launch.app_of(self.number));
      return {};
    case MPI_UNIVERSE_SIZE:
      answer(attribute_val, flag, &self.launch.universe);
      return {};
    case MPI_LASTUSEDCODE:
      answer(attribute_val, flag, self.error_codes.last_used());
      return {};
    default:
      return base::fail(MPI_ERR_KEYVAL, "keyval {} is no predefined attribute of communicators", keyval);
  }
}

/// MPI-5.0 section 12.2.6.
base::Status get_predefined(rma::Window& win, int keyval, void* attribute_val, int* flag) {
  switch (keyval) {
    case MPI_WIN_BASE:
      answer(attribute_val, flag, win.base());
      return {};
    case MPI_WIN_SIZE:
      answer(attribute_val, flag, &win.size_attribute);
      return {};
    case MPI_WIN_DISP_UNIT:
      answer(attribute_val, flag, &win.unit_attribute);
      return {};
    case MPI_WIN_CREATE_FLAVOR:
      answer(attribute_val, flag, &win.flavor_attribute);
      return {};
    case MPI_WIN_MODEL:
      answer(attribute_val, flag, &win.model_attribute);
      return {};
    default:
      return base::fail(MPI_ERR_KEYVAL, "keyval {} is no predefined attribute of windows", keyval);
  }
}

}  // namespace

base::Status copy_type_attributes(core::Rank& self, MPI_Datatype old_type, MPI_Datatype new_type) {
  const Attributes* const originals = self.type_attributes(old_type);
  if (originals == nullptr) return {};
  Attributes& copies = self.new_type_attributes(new_type);
  const base::Status copied = copies.copy_from(old_type, *originals);
  if (!copied.ok()) (void)copies.clear(new_type);  // the copy function's failure is the one to report
  return copied;
}

base::Status delete_type_attributes(core::Rank& self, MPI_Datatype type) {
  Attributes* const attributes = self.type_attributes(type);
  return attributes != nullptr ? attributes->clear(type) : base::Status();
}

base::Status comm_create_keyval(core::Rank& self, MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                                MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval,
                                void* extra_state) {
  return create_keyval(self, Kind::kComm, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}

base::Status comm_free_keyval(core::Rank& self, int* comm_keyval) {
  return free_keyval(self, Kind::kComm, comm_keyval);
}

base::Status comm_set_attr(core::Rank& self, core::Comm& comm, int comm_keyval, void* attribute_val) {
  return set_attribute({self, Kind::kComm, comm_keyval}, comm.attributes, comm.handle, attribute_val);
}

base::Status comm_get_attr(core::Rank& self, core::Comm& comm, int comm_keyval, void* attribute_val,
                           int* flag) {
  if (is_predefined(comm_keyval)) return get_predefined(self, comm_keyval, attribute_val, flag);
  return get_attribute({self, Kind::kComm, comm_keyval}, &comm.attributes, attribute_val, flag);
}

base::Status comm_delete_attr(core::Rank& self, core::Comm& comm, int comm_keyval) {
  return delete_attribute({self, Kind::kComm, comm_keyval}, &comm.attributes, comm.handle);
}

base::Status win_create_keyval(core::Rank& self, MPI_Win_copy_attr_function* win_copy_attr_fn,
                               MPI_Win_delete_attr_function* win_delete_attr_fn, int* win_keyval,
                               void* extra_state) {
  return create_keyval(self, Kind::kWin, win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
}

base::Status win_free_keyval(core::Rank& self, int* win_keyval) {
  return free_keyval(self, Kind::kWin, win_keyval);
}

base::Status win_set_attr(core::Rank& self, rma::Window& win, int win_keyval, void* attribute_val) {
  return set_attribute({self, Kind::kWin, win_keyval}, win.attributes, win.handle, attribute_val);
}

base::Status win_get_attr(core::Rank& self, rma::Window& win, int win_keyval, void* attribute_val,
                          int* flag) {
  if (is_predefined(win_keyval)) return get_predefined(win, win_keyval, attribute_val, flag);
  return get_attribute({self, Kind::kWin, win_keyval}, &win.attributes, attribute_val, flag);
}

base::Status win_delete_attr(core::Rank& self, rma::Window& win, int win_keyval) {
  return delete_attribute({self, Kind::kWin, win_keyval}, &win.attributes, win.handle);
}

base::Status type_create_keyval(core::Rank& self, MPI_Type_copy_attr_function* type_copy_attr_fn,
                                MPI_Type_delete_attr_function* type_delete_attr_fn, int* type_keyval,
                                void* extra_state) {
  return create_keyval(self, Kind::kType, type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state);
}

base::Status type_free_keyval(core::Rank& self, int* type_keyval) {
  return free_keyval(self, Kind::kType, type_keyval);
}

base::Status type_set_attr(core::Rank& self, MPI_Datatype datatype, int type_keyval, void* attribute_val) {
  return set_attribute({self, Kind::kType, type_keyval}, self.new_type_attributes(datatype), datatype,
                       attribute_val);
}

base::Status type_get_attr(core::Rank& self, MPI_Datatype datatype, int type_keyval, void* attribute_val,
                           int* flag) {
  return get_attribute({self, Kind::kType, type_keyval}, self.type_attributes(datatype), attribute_val, flag);
}

base::Status type_delete_attr(core::Rank& self, MPI_Datatype datatype, int type_keyval) {
  return delete_attribute({self, Kind::kType, type_keyval}, self.type_attributes(datatype), datatype);
}

// The names of MPI-1 for the keys and attributes of communicators (MPI-5.0 chapter 16).

base::Status keyval_create(core::Rank& self, MPI_Copy_function* copy_fn, MPI_Delete_function* delete_fn,
                           int* keyval, void* extra_state) {
  return create_keyval(self, Kind::kComm, copy_fn, delete_fn, keyval, extra_state);
}

base::Status keyval_free(core::Rank& self, int* keyval) { return comm_free_keyval(self, keyval); }

base::Status attr_put(core::Rank& self, core::Comm& comm, int keyval, void* attribute_val) {
  return comm_set_attr(self, comm, keyval, attribute_val);
}

base::Status attr_get(core::Rank& self, core::Comm& comm, int keyval, void* attribute_val, int* flag) {
  return comm_get_attr(self, comm, keyval, attribute_val, flag);
}

base::Status attr_delete(core::Rank& self, core::Comm& comm, int keyval) {
  return comm_delete_attr(self, comm, keyval);
}

}  // namespace clump::mpi
