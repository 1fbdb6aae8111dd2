// Functions whose arguments the standard's data does not describe well enough: those that are handed
// functions, values of attributes, contents of datatypes, strings that are longer in the standard's ABI.
#include <cstdio>
#include <cstring>

#include "abi_library.h"
#include "callbacks.h"
#include "entry.h"

using namespace clump::facade;  // NOLINT: the functions below are of no namespace

namespace {

/// What is returned if no function of a pool is left, or no memory: as the standard's function would raise
/// it.
int no_room() { return program_code(abi::Comm_call_errhandler()(MPI_COMM_SELF, MPI_ERR_NO_MEM)); }

/// Values of predefined attributes that mean something else here. They are the rank's, and stay where they
/// are.
int host_value, io_value, last_code_value;

/// The same of windows, whose values differ: a place for each of a family's constants.
int constants[] = {0, 1, 2, 3, 4};
constexpr int kConstants = sizeof constants / sizeof constants[0];

void give_constant(void* attribute_val, int value) {
  if (value >= 0 && value < kConstants) *static_cast<int**>(attribute_val) = &constants[value];
}

void give(void* attribute_val, int* place, int value) {
  *place = value;
  *static_cast<int**>(attribute_val) = place;
}

int get_comm_attribute(Comm comm, int keyval, void* attribute_val, int* flag,
                       decltype(&::MPI_Comm_get_attr) get) {
  const int key = standard(kKeyval, keyval);
  const int code = get(standard(comm), key, attribute_val, flag);
  if (code != MPI_SUCCESS || *flag == 0) return program_code(code);
  const auto value = [&] { return **static_cast<int**>(attribute_val); };
  if (key == MPI_HOST) give(attribute_val, &host_value, program_rank(value()));
  if (key == MPI_IO) give(attribute_val, &io_value, program_rank(value()));
  // As long as the program has added none it is the standard's MPI_ERR_LASTCODE.
  constexpr int kLastCode = 0x3fffffff;
  if (key == MPI_LASTUSEDCODE)
    give(attribute_val, &last_code_value, value() > kLastCode ? value() : kLastCode);
  return MPI_SUCCESS;
}

/// Values of a freed key may stay for long: nothing tells when its functions are called no more.
template <typename Handle>
Key<Handle>* key_of(typename Key<Handle>::Copy copy, typename Key<Handle>::Delete destroy,
                    void* extra_state) {
  static constinit KeptOnce<Key<Handle>> keys;
  return keys.copy_of({copy, destroy, extra_state});
}

/// The program's code of a call that was given `state`, which it uses only if it succeeds.
int code_of(int code, void* state) {
  if (code != MPI_SUCCESS) std::free(state);
  return program_code(code);
}

struct Grequest {
  int (*query)(void* extra_state, Status* status);
  int (*release)(void* extra_state);
  int (*cancel)(void* extra_state, int complete);
  void* extra_state;
};

struct Datarep {
  int (*extent)(Datatype datatype, MPI_Aint* extent, void* extra_state);
  int (*read)(void*, Datatype, int, void*, MPI_Offset, void*);
  int (*write)(void*, Datatype, int, void*, MPI_Offset, void*);
  int (*read_large)(void*, Datatype, MPI_Count, void*, MPI_Offset, void*);
  int (*write_large)(void*, Datatype, MPI_Count, void*, MPI_Offset, void*);
  void* extra_state;
};

int extent_of_datarep(MPI_Datatype datatype, MPI_Aint* extent, void* self) {
  const Datarep& known = *static_cast<Datarep*>(self);
  return standard_code(known.extent(program<Datatype>(datatype), extent, known.extra_state));
}

template <auto kFunction, typename Number>
int convert(void* user, MPI_Datatype datatype, Number count, void* file, MPI_Offset position, void* self) {
  const Datarep& known = *static_cast<Datarep*>(self);
  return standard_code(
      (known.*kFunction)(user, program<Datatype>(datatype), count, file, position, known.extra_state));
}

int create_bounded(int count, const int* lengths, const MPI_Aint* places, const Datatype* types,
                   Datatype* newtype) {
  Memory<int, 16> kept_lengths(count);
  Memory<MPI_Aint, 16> kept_places(count);
  Memory<MPI_Datatype, 16> kept_types(count);
  if (kept_lengths.data() == nullptr || kept_places.data() == nullptr || kept_types.data() == nullptr)
    return no_room();
  const MPI_Aint* lower = nullptr;
  const MPI_Aint* upper = nullptr;
  int all = 0;
  for (int i = 0; i < count; ++i) {
    if (types[i] == lower_bound() && (lower == nullptr || places[i] < *lower)) lower = &places[i];
    if (types[i] == upper_bound() && (upper == nullptr || places[i] > *upper)) upper = &places[i];
    if (types[i] == lower_bound() || types[i] == upper_bound()) continue;
    kept_lengths[all] = lengths[i];
    kept_places[all] = places[i];
    kept_types[all++] = standard(types[i]);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  int code =
      abi::Type_create_struct()(all, kept_lengths.data(), kept_places.data(), kept_types.data(), &made);
  if (code != MPI_SUCCESS) return program_code(code);
  MPI_Aint begin = 0;
  MPI_Aint extent = 0;
  code = abi::Type_get_extent()(made, &begin, &extent);
  if (code != MPI_SUCCESS) return program_code(code);
  const MPI_Aint end = upper != nullptr ? *upper : begin + extent;
  if (lower != nullptr) begin = *lower;
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  code = abi::Type_create_resized()(made, begin, end - begin, &resized);
  abi::Type_free()(&made);
  if (code == MPI_SUCCESS) *newtype = program<Datatype>(resized);
  return program_code(code);
}

int create_struct(int count, const int* lengths, const MPI_Aint* places, const Datatype* types,
                  Datatype* newtype) {
  for (int i = 0;
       types != nullptr && lengths != nullptr && places != nullptr && newtype != nullptr && i < count; ++i) {
    if (types[i] == lower_bound() || types[i] == upper_bound())
      return create_bounded(count, lengths, places, types, newtype);
  }
  return program_code(abi::Type_create_struct()(count, lengths, places, Handles<Datatype>(types, count),
                                                Out<Datatype>(newtype)));
}

/// Among the integers that a datatype was made of, those that are constants.
void constants_to_program(MPI_Datatype datatype, int* integers, MPI_Count count) {
  MPI_Count all = 0;
  MPI_Count addresses = 0;
  MPI_Count large = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
  if (integers == nullptr ||
      abi::Type_get_envelope_c()(datatype, &all, &addresses, &large, &types, &combiner) != MPI_SUCCESS ||
      count < all)
    return;
  if (combiner != MPI_COMBINER_SUBARRAY && combiner != MPI_COMBINER_DARRAY) return;
  integers[all - 1] = program(kOrder, integers[all - 1]);
  if (combiner == MPI_COMBINER_SUBARRAY) return;
  // size, rank, ndims; sizes of the array, which are large counts in the large form; then two arrays of
  // constants
  const int dimensions = integers[2];
  int* const distributions = integers + 3 + (large > 0 ? 0 : dimensions);
  for (int i = 0; i < dimensions; ++i) {
    distributions[i] = program(kDistribution, distributions[i]);
    distributions[dimensions + i] = program(kDistributionArgument, distributions[dimensions + i]);
  }
}

}  // namespace

CLUMP_ENTRY(int, MPI_Get_library_version, (char* version, int* length)) {
  constexpr std::size_t kRoom = 256;  // Open MPI's MPI_MAX_LIBRARY_VERSION_STRING; MPICH's is larger
  char own[MPI_MAX_LIBRARY_VERSION_STRING];
  const int code = abi::Get_library_version()(version != nullptr ? own : nullptr, length);
  if (code == MPI_SUCCESS) *length = std::snprintf(version, kRoom, "%s%s", kVersion, own);
  return program_code(code);
}

// Operations, error handlers, keys.

CLUMP_ENTRY(int, MPI_Op_create, (UserFunction user_fn, int commute, Op* op)) {
  MPI_User_function* const function = standard(user_fn);
  if (function == nullptr && user_fn != nullptr) return no_room();
  return program_code(abi::Op_create()(function, commute, Out<Op>(op)));
}
CLUMP_ENTRY(int, MPI_Op_create_c, (UserFunctionLarge user_fn, int commute, Op* op)) {
  MPI_User_function_c* const function = standard(user_fn);
  if (function == nullptr && user_fn != nullptr) return no_room();
  return program_code(abi::Op_create_c()(function, commute, Out<Op>(op)));
}

CLUMP_ENTRY(int, MPI_Op_free, (Op * op)) {
  const Op freed = op != nullptr ? *op : Op();
  const int code = program_code(abi::Op_free()(Out<Op>(op, true)));
  if (code == MPI_SUCCESS) operation_ends(freed);
  return code;
}

CLUMP_ENTRY(int, MPI_Comm_create_errhandler, (ErrorFunction<Comm> function, Errhandler* errhandler)) {
  MPI_Comm_errhandler_function* const own = standard(function);
  if (own == nullptr && function != nullptr) return no_room();
  return program_code(abi::Comm_create_errhandler()(own, Out<Errhandler>(errhandler)));
}
CLUMP_ENTRY(int, MPI_Win_create_errhandler, (ErrorFunction<Win> function, Errhandler* errhandler)) {
  MPI_Win_errhandler_function* const own = standard(function);
  if (own == nullptr && function != nullptr) return no_room();
  return program_code(abi::Win_create_errhandler()(own, Out<Errhandler>(errhandler)));
}
CLUMP_ENTRY(int, MPI_File_create_errhandler, (ErrorFunction<File> function, Errhandler* errhandler)) {
  MPI_File_errhandler_function* const own = standard(function);
  if (own == nullptr && function != nullptr) return no_room();
  return program_code(abi::File_create_errhandler()(own, Out<Errhandler>(errhandler)));
}
CLUMP_ENTRY(int, MPI_Session_create_errhandler, (ErrorFunction<Session> function, Errhandler* errhandler)) {
  MPI_Session_errhandler_function* const own = standard(function);
  if (own == nullptr && function != nullptr) return no_room();
  return program_code(abi::Session_create_errhandler()(own, Out<Errhandler>(errhandler)));
}

CLUMP_ENTRY(int, MPI_Comm_create_keyval,
            (Key<Comm>::Copy copy, Key<Comm>::Delete destroy, int* keyval, void* extra_state)) {
  Key<Comm>* const key = key_of<Comm>(copy, destroy, extra_state);
  if (key == nullptr) return no_room();
  return program_code(abi::Comm_create_keyval()(Key<Comm>::copy_it, Key<Comm>::delete_it, keyval, key));
}
CLUMP_ENTRY(int, MPI_Keyval_create,
            (Key<Comm>::Copy copy, Key<Comm>::Delete destroy, int* keyval, void* extra_state)) {
  return facade_PMPI_Comm_create_keyval(copy, destroy, keyval, extra_state);
}
CLUMP_ENTRY(int, MPI_Type_create_keyval,
            (Key<Datatype>::Copy copy, Key<Datatype>::Delete destroy, int* keyval, void* extra_state)) {
  Key<Datatype>* const key = key_of<Datatype>(copy, destroy, extra_state);
  if (key == nullptr) return no_room();
  return program_code(
      abi::Type_create_keyval()(Key<Datatype>::copy_it, Key<Datatype>::delete_it, keyval, key));
}
CLUMP_ENTRY(int, MPI_Win_create_keyval,
            (Key<Win>::Copy copy, Key<Win>::Delete destroy, int* keyval, void* extra_state)) {
  Key<Win>* const key = key_of<Win>(copy, destroy, extra_state);
  if (key == nullptr) return no_room();
  return program_code(abi::Win_create_keyval()(Key<Win>::copy_it, Key<Win>::delete_it, keyval, key));
}
CLUMP_ENTRY(int, MPI_Comm_get_attr, (Comm comm, int keyval, void* attribute_val, int* flag)) {
  return get_comm_attribute(comm, keyval, attribute_val, flag, abi::Comm_get_attr());
}
CLUMP_ENTRY(int, MPI_Attr_get, (Comm comm, int keyval, void* attribute_val, int* flag)) {
  return get_comm_attribute(comm, keyval, attribute_val, flag, abi::Attr_get());
}
CLUMP_ENTRY(int, MPI_Win_get_attr, (Win win, int keyval, void* attribute_val, int* flag)) {
  const int key = standard(kKeyval, keyval);
  const int code = abi::Win_get_attr()(standard(win), key, attribute_val, flag);
  if (code != MPI_SUCCESS || *flag == 0) return program_code(code);
  const auto value = [&] { return **static_cast<int**>(attribute_val); };
  if (key == MPI_WIN_CREATE_FLAVOR) give_constant(attribute_val, program(kFlavor, value()));
  if (key == MPI_WIN_MODEL) give_constant(attribute_val, program(kModel, value()));
  return MPI_SUCCESS;
}

// Generalised requests, representations of data.

CLUMP_ENTRY(int, MPI_Grequest_start,
            (decltype(Grequest::query) query, decltype(Grequest::release) release,
             decltype(Grequest::cancel) cancel, void* extra_state, Request* request)) {
  Grequest* const own = kept(Grequest{query, release, cancel, extra_state});
  if (own == nullptr) return no_room();
  const auto query_it = [](void* self, MPI_Status* status) {
    const Grequest& known = *static_cast<Grequest*>(self);
    Status own_status{};
    to_program(*status, own_status);
    own_status.MPI_ERROR = program_code(status->MPI_ERROR);
    const int code = known.query(known.extra_state, &own_status);
    to_standard(own_status, *status);
    return standard_code(code);
  };
  const auto release_it = [](void* self) {
    const Grequest known = *static_cast<Grequest*>(self);
    std::free(self);
    return standard_code(known.release(known.extra_state));
  };
  const auto cancel_it = [](void* self, int complete) {
    const Grequest& known = *static_cast<Grequest*>(self);
    return standard_code(known.cancel(known.extra_state, complete));
  };
  const bool is_whole = query != nullptr && release != nullptr && cancel != nullptr;
  return code_of(abi::Grequest_start()(is_whole ? +query_it : nullptr, is_whole ? +release_it : nullptr,
                                       is_whole ? +cancel_it : nullptr, own, Out<Request>(request)),
                 own);
}

CLUMP_ENTRY(int, MPI_Register_datarep,
            (const char* name, decltype(Datarep::read) read, decltype(Datarep::write) write,
             decltype(Datarep::extent) extent, void* extra_state)) {
  Datarep* const own = kept(Datarep{extent, read, write, nullptr, nullptr, extra_state});
  if (own == nullptr) return no_room();
  return code_of(abi::Register_datarep()(name, read != nullptr ? convert<&Datarep::read, int> : nullptr,
                                         write != nullptr ? convert<&Datarep::write, int> : nullptr,
                                         extent != nullptr ? extent_of_datarep : nullptr, own),
                 own);
}
CLUMP_ENTRY(int, MPI_Register_datarep_c,
            (const char* name, decltype(Datarep::read_large) read, decltype(Datarep::write_large) write,
             decltype(Datarep::extent) extent, void* extra_state)) {
  Datarep* const own = kept(Datarep{extent, nullptr, nullptr, read, write, extra_state});
  if (own == nullptr) return no_room();
  return code_of(
      abi::Register_datarep_c()(name, read != nullptr ? convert<&Datarep::read_large, MPI_Count> : nullptr,
                                write != nullptr ? convert<&Datarep::write_large, MPI_Count> : nullptr,
                                extent != nullptr ? extent_of_datarep : nullptr, own),
      own);
}

// Datatypes and groups.

CLUMP_ENTRY(int, MPI_Type_create_struct,
            (int count, const int* lengths, const MPI_Aint* places, const Datatype* types,
             Datatype* newtype)) {
  return create_struct(count, lengths, places, types, newtype);
}
CLUMP_ENTRY(int, MPI_Type_get_contents,
            (Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int* integers,
             MPI_Aint* addresses, Datatype* datatypes)) {
  const int code =
      abi::Type_get_contents()(standard(datatype), max_integers, max_addresses, max_datatypes, integers,
                               addresses, OutHandles<Datatype>(datatypes, max_datatypes));
  if (code == MPI_SUCCESS) constants_to_program(standard(datatype), integers, max_integers);
  return program_code(code);
}
CLUMP_ENTRY(int, MPI_Type_get_contents_c,
            (Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large,
             MPI_Count max_datatypes, int* integers, MPI_Aint* addresses, MPI_Count* large,
             Datatype* datatypes)) {
  const int code =
      abi::Type_get_contents_c()(standard(datatype), max_integers, max_addresses, max_large, max_datatypes,
                                 integers, addresses, large, OutHandles<Datatype>(datatypes, max_datatypes));
  if (code == MPI_SUCCESS) constants_to_program(standard(datatype), integers, max_integers);
  return program_code(code);
}

CLUMP_ENTRY(int, MPI_Group_translate_ranks,
            (Group group1, int n, const int* ranks1, Group group2, int* ranks2)) {
  Memory<int, 64> own(n > 0 ? n : 0);
  if (own.data() == nullptr) return no_room();
  for (int i = 0; ranks1 != nullptr && i < n; ++i) own[i] = standard_rank(ranks1[i]);
  const int code = abi::Group_translate_ranks()(standard(group1), n, ranks1 != nullptr ? own.data() : nullptr,
                                                standard(group2), ranks2);
  for (int i = 0; code == MPI_SUCCESS && i < n; ++i) ranks2[i] = program_rank(ranks2[i]);
  return program_code(code);
}

// Others.

CLUMP_ENTRY(int, MPI_Pcontrol, (const int level, ...)) { return program_code(abi::Pcontrol()(level)); }

/// The program has its family's ABI, whatever the library behind has.
CLUMP_ENTRY(int, MPI_Abi_get_version, (int* major, int* minor)) {
  if (major != nullptr) *major = -1;
  if (minor != nullptr) *minor = -1;
  return MPI_SUCCESS;
}
