#include "section.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "arguments.h"

namespace clump::fortran {

namespace {

MPI_Count elements_of(const Descriptor& array) {
  MPI_Count elements = 1;
  for (int i = 0; i < array.rank; ++i) elements *= array.dimensions[i].extent;
  return elements;
}

/// Calls `visit(address)` for each of the first `elements` elements in array element order.
template <typename Visit>
void for_first(const Descriptor& array, MPI_Count elements, Visit visit) {
  std::ptrdiff_t at[15] = {};
  char* element = static_cast<char*>(array.address);
  for (MPI_Count i = 0; i < elements; ++i) {
    visit(element);
    for (int d = 0; d < array.rank; ++d) {
      element += array.dimensions[d].stride;
      if (++at[d] < array.dimensions[d].extent) break;
      element -= at[d] * array.dimensions[d].stride;
      at[d] = 0;
    }
  }
}

/// A datatype that this file makes, freed when it is no longer needed. Datatypes made of it, and operations,
/// keep what they need.
class Made {
 public:
  Made() = default;
  ~Made() {
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// `first` at its place and `second` some bytes behind; each once.
bool join(MPI_Datatype first, MPI_Datatype second, MPI_Count displacement, MPI_Datatype* joined) {
  const MPI_Count lengths[2] = {1, 1};
  const MPI_Count places[2] = {0, displacement};
  const MPI_Datatype types[2] = {first, second};
  return PMPI_Type_create_struct_c(2, lengths, places, types, joined) == MPI_SUCCESS;
}

/// The first `elements` elements, of type `element`, of dimensions 0 to `top`.
bool first_elements(const Descriptor& array, int top, MPI_Count elements, MPI_Datatype element,
                    MPI_Datatype* made) {
  if (top == 0)
    return PMPI_Type_create_hvector_c(elements, 1, array.dimensions[0].stride, element, made) == MPI_SUCCESS;
  MPI_Count each = 1;
  for (int i = 0; i < top; ++i) each *= array.dimensions[i].extent;
  const MPI_Count full = elements / each;
  const MPI_Count rest = elements % each;
  if (full == 0) return first_elements(array, top - 1, rest, element, made);
  Made slice;
  if (!first_elements(array, top - 1, each, element, &slice.type)) return false;
  const MPI_Count stride = array.dimensions[top].stride;
  if (rest == 0) return PMPI_Type_create_hvector_c(full, 1, stride, slice.type, made) == MPI_SUCCESS;
  Made slices;
  Made tail;
  return PMPI_Type_create_hvector_c(full, 1, stride, slice.type, &slices.type) == MPI_SUCCESS &&
         first_elements(array, top - 1, rest, element, &tail.type) &&
         join(slices.type, tail.type, full * stride, made);
}

/// Where element number `index` begins, in bytes from the first one.
MPI_Count place_of(const Descriptor& array, MPI_Count index) {
  MPI_Count place = 0;
  for (int i = 0; i < array.rank; ++i) {
    place += index % array.dimensions[i].extent * array.dimensions[i].stride;
    index /= array.dimensions[i].extent;
  }
  return place;
}

MPI_Count extent_of(MPI_Datatype datatype) {
  MPI_Count low = 0;
  MPI_Count extent = 0;
  MPI_Count true_low = 0;
  MPI_Count true_extent = 0;
  if (PMPI_Type_get_extent_c(datatype, &low, &extent) != MPI_SUCCESS || low != 0 ||
      PMPI_Type_get_true_extent_c(datatype, &true_low, &true_extent) != MPI_SUCCESS)
    return 0;
  return true_low >= 0 && true_low + true_extent <= extent ? extent : 0;
}

/// How many elements of the array, from the first one on, a message lies over: all that there are if that is
/// not known.
MPI_Count covered_by(const Descriptor& array, MPI_Count count, MPI_Datatype datatype) {
  const MPI_Count all = elements_of(array);
  if (count == Message::kUnsaid || array.element_size == 0) return all;
  MPI_Count low = 0;
  MPI_Count extent = 0;
  MPI_Count true_extent = 0;
  if (PMPI_Type_get_extent_c(datatype, &low, &extent) != MPI_SUCCESS || extent < 0 ||
      PMPI_Type_get_true_extent_c(datatype, &low, &true_extent) != MPI_SUCCESS || low < 0)
    return all;
  MPI_Count bytes = 0;
  if (__builtin_mul_overflow(count - 1, extent, &bytes) ||
      __builtin_add_overflow(bytes, low + true_extent, &bytes))
    return all;
  const auto size = static_cast<MPI_Count>(array.element_size);
  const MPI_Count elements = bytes / size + (bytes % size != 0 ? 1 : 0);
  return elements < all ? elements : all;
}

/// The error codes of refusals, one for each argument of each procedure: a code that a program gets stays
/// valid, so it is never removed. For all threads of the rank, of whose copy of this library it is a part;
/// `is_locked` guards it.
struct Refusal {
  const char* function;
  const char* argument;
  int code;
  Refusal* next;
};
struct Refusals {
  bool is_locked = false;
  Refusal* first = nullptr;
};
constinit Refusals refusals;

/// Adds the code, whose text says which call and which argument it is about. MPI_ERR_BUFFER if that fails.
int new_code(const char* function, const char* argument) {
  int code = MPI_ERR_BUFFER;
  char text[MPI_MAX_ERROR_STRING];
  std::snprintf(text, sizeof text,
                "%s (%s): a section of an array that is not contiguous cannot be described to this call, "
                "and no request tells when its copy could go; pass a contiguous array",
                function, argument);
  if (PMPI_Add_error_code(MPI_ERR_BUFFER, &code) == MPI_SUCCESS &&
      PMPI_Add_error_string(code, text) == MPI_SUCCESS)
    return code;
  std::fprintf(stderr, "%s\n", text);
  return MPI_ERR_BUFFER;
}

int code_of(const char* function, const char* argument) {
  while (__atomic_test_and_set(&refusals.is_locked,
                               __ATOMIC_ACQUIRE)) {  // acquire: pairs with the release below
  }
  const Refusal* known = refusals.first;
  while (known != nullptr &&
         (std::strcmp(known->function, function) != 0 || std::strcmp(known->argument, argument) != 0))
    known = known->next;
  int code = known != nullptr ? known->code : MPI_ERR_BUFFER;
  if (known == nullptr) {
    code = new_code(function, argument);
    if (auto* const added = static_cast<Refusal*>(std::malloc(sizeof(Refusal))); added != nullptr) {
      *added = {function, argument, code, refusals.first};
      refusals.first = added;
    }
  }
  __atomic_clear(&refusals.is_locked, __ATOMIC_RELEASE);  // release: pairs with the acquire above
  return code;
}

/// As in src/host/host.h.
struct CopiedBuffer {
  void* copy;
  void (*take)(void* copy);
  void (*give_back)(void* copy);
  void (*free)(void* copy);
};
using KeepCopied = bool(std::intptr_t request, const CopiedBuffer* buffer);

/// Null: the MPI library keeps no copies. Only Clump's does.
KeepCopied* keep_copied() {
  return reinterpret_cast<KeepCopied*>(::dlsym(RTLD_DEFAULT, "clump_keep_copied"));
}

}  // namespace

/// The elements that the library gets in the place of the section's. If they are written, a second copy tells
/// what the library has written: it may not be all. Used by one thread at a time.
struct alignas(16) Copy {
  Descriptor array;
  MPI_Count elements;
  Access access;
  bool is_in_use;  ///< it has what the program's array had, and nothing has gone back

  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(elements) * array.element_size; }
  char* data() { return reinterpret_cast<char*>(this + 1); }
  void take() {
    char* to = data();
    for_first(array, elements, [&](const char* element) {
      std::memcpy(to, element, array.element_size);
      to += array.element_size;
    });
    if (access == Access::kWrite) std::memcpy(to, data(), bytes());
    is_in_use = true;
  }
  void give_back() {
    if (!std::exchange(is_in_use, false) || access == Access::kRead) return;
    const char* from = data();
    for_first(array, elements, [&](char* element) {
      if (std::memcmp(from, from + bytes(), array.element_size) != 0)
        std::memcpy(element, from, array.element_size);
      from += array.element_size;
    });
  }
};

/// One block: count_ elements of datatype_, whose extent is that of an element of the section or a whole part
/// of it.
bool Section::describe_block(const Descriptor& array) {
  const MPI_Count extent = extent_of(datatype_);
  const auto size = static_cast<MPI_Count>(array.element_size);
  if (extent <= 0 || size == 0 || size % extent != 0) return false;
  const MPI_Count parts = size / extent;
  const MPI_Count whole = count_ / parts;
  const MPI_Count rest = count_ % parts;
  if (whole + (rest != 0 ? 1 : 0) > elements_of(array))
    return false;  // the program's error: more than there is
  Made element;
  Made elements;
  Made tail;
  MPI_Datatype all = MPI_DATATYPE_NULL;
  if (PMPI_Type_contiguous_c(parts, datatype_, &element.type) != MPI_SUCCESS) return false;
  if (whole == 0) {
    if (PMPI_Type_contiguous_c(rest, datatype_, &all) != MPI_SUCCESS) return false;
  } else if (rest == 0) {
    if (!first_elements(array, array.rank - 1, whole, element.type, &all)) return false;
  } else if (!first_elements(array, array.rank - 1, whole, element.type, &elements.type) ||
             PMPI_Type_contiguous_c(rest, datatype_, &tail.type) != MPI_SUCCESS ||
             !join(elements.type, tail.type, place_of(array, whole), &all)) {
    return false;
  }
  PMPI_Type_commit(&all);
  datatype_ = all;
  count_ = 1;
  is_made_ = true;
  return true;
}

/// Several blocks: the elements have the same distance everywhere, and the datatype gets it for its extent.
bool Section::describe_blocks(const Descriptor& array) {
  const MPI_Count extent = extent_of(datatype_);
  if (extent <= 0 || static_cast<MPI_Count>(array.element_size) != extent) return false;
  MPI_Count expected = 0;
  MPI_Count stride = 0;
  for (int i = 0; i < array.rank; ++i) {
    const Dimension& dimension = array.dimensions[i];
    if (dimension.extent == 1) continue;
    if (stride == 0) stride = expected = dimension.stride;
    if (dimension.stride != expected) return false;
    expected *= dimension.extent;
  }
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  if (stride <= 0 || PMPI_Type_create_resized_c(datatype_, 0, stride, &spread) != MPI_SUCCESS) return false;
  PMPI_Type_commit(&spread);
  datatype_ = spread;
  is_made_ = true;
  return true;
}

bool Where::is_here() const {
  switch (at) {
    case At::kRoot:
      return is_root(handle<MPI_Comm>(comm), root);
    case At::kPeers:
      return root != MPI_ROOT && root != MPI_PROC_NULL;
    case At::kSenders:
      return root != MPI_PROC_NULL;
    case At::kAll:
      break;
  }
  return true;
}

void Section::describe(const Descriptor& array, Purpose purpose, Where where) {
  // What is wrong with a count or a datatype the call itself says.
  const bool is_said = count_ != Message::kUnsaid;
  if ((is_said && count_ <= 0) || datatype_ == MPI_DATATYPE_NULL || !where.is_here()) return;
  if (purpose.use == Use::kOneBlock && describe_block(array)) return;
  if (purpose.use == Use::kBlocks && describe_blocks(array)) return;
  const MPI_Count elements =
      purpose.use == Use::kBlocks ? elements_of(array) : covered_by(array, count_, datatype_);
  if (is_said && purpose.use != Use::kBlocks && elements <= 1) return;  // it ends within the first element
  const bool needs_keeping = purpose.call == Call::kRequest || purpose.call == Call::kPersistent;
  if (purpose.call == Call::kLater || (needs_keeping && keep_copied() == nullptr)) {
    error_ = MPI_ERR_BUFFER;
    return;
  }
  copy(array, elements, purpose);
}

/// The call gets a contiguous copy of the first elements. It is made for arguments that are written, too.
void Section::copy(const Descriptor& array, MPI_Count elements, Purpose purpose) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * array.element_size;
  void* const memory = std::malloc(sizeof(Copy) + (purpose.access == Access::kWrite ? 2 * bytes : bytes));
  if (memory == nullptr) {
    error_ = MPI_ERR_NO_MEM;
    return;
  }
  copy_ = new (memory) Copy{array, elements, purpose.access, false};
  if (purpose.call != Call::kPersistent) copy_->take();
  address_ = copy_->data();
}

void Section::keep(Integer request) {
  const CopiedBuffer buffer{copy_, [](void* copy) { static_cast<Copy*>(copy)->take(); },
                            [](void* copy) { static_cast<Copy*>(copy)->give_back(); },
                            [](void* copy) {
                              static_cast<Copy*>(copy)->give_back();
                              std::free(copy);
                            }};
  if (keep_copied()(request_of_library(request), &buffer)) copy_ = nullptr;
}

void Section::release() {
  if (is_made_) PMPI_Type_free(&datatype_);
  if (copy_ == nullptr) return;
  copy_->give_back();
  std::free(copy_);
}

int Section::code_of_refusal(const char* function, const char* argument) const {
  return error_ == MPI_ERR_BUFFER ? code_of(function, argument) : error_;
}

int Section::refuse(const char* function, const char* argument, MPI_Comm comm) const {
  const int code = code_of_refusal(function, argument);
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

int Section::refuse(const char* function, const char* argument, MPI_File file) const {
  const int code = code_of_refusal(function, argument);
  PMPI_File_call_errhandler(file, code);
  return code;
}

int Section::refuse(const char* function, const char* argument, MPI_Win win) const {
  const int code = code_of_refusal(function, argument);
  PMPI_Win_call_errhandler(win, code);
  return code;
}

int Section::refuse(const char* function, const char* argument, MPI_Session session) const {
  const int code = code_of_refusal(function, argument);
  PMPI_Session_call_errhandler(session, code);
  return code;
}

}  // namespace clump::fortran
