// What can be asked of datatypes: sizes, bounds, names, how they were made (MPI-5.0 sections 5.1.6
// to 5.1.8, 5.1.11, 5.1.13, 7.8), and how many of their elements a message held (sections 3.2.5 and 5.1.11).
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/rank.h"
#include "core/request.h"
#include "datatype/reduce.h"
#include "mpi/bodies.h"
#include "mpi/unnamed_types.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using datatype::Datatype;
using datatype::Recipe;

/// The numbers of a Recipe as MPI_Type_get_contents sorts them: by the type that they had in the call.
struct Contents {
  std::vector<Count> integers, addresses, large_counts;
};

Contents contents_of(const Recipe& recipe) {
  Contents found;
  const std::vector<Count>& numbers = recipe.arguments;
  if (!recipe.large) {
    const auto first_address = numbers.end() - recipe.addresses;
    found.integers.assign(numbers.begin(), first_address);
    found.addresses.assign(first_address, numbers.end());
  } else if (recipe.combiner == MPI_COMBINER_SUBARRAY) {
    found.integers = {numbers.front(), numbers.back()};  // ndims and order are int in both procedures
    found.large_counts.assign(numbers.begin() + 1, numbers.end() - 1);
  } else if (recipe.combiner == MPI_COMBINER_DARRAY) {
    const auto sizes = numbers.begin() + 3, behind = sizes + numbers[2];  // size, rank, ndims come first
    found.large_counts.assign(sizes, behind);
    found.integers.assign(numbers.begin(), sizes);
    found.integers.insert(found.integers.end(), behind, numbers.end());
  } else {
    found.large_counts = numbers;
  }
  return found;
}

Status too_large_for_small_call(const Datatype& type) {
  return base::fail(
      MPI_ERR_TYPE,
      "{} was made by a procedure with large counts: call the procedure with the suffix _c for it",
      type.description());
}

template <typename T>
Status fill(const char* name, const std::vector<Count>& values, Count room, T* out) {
  if (static_cast<Count>(values.size()) > room) {
    return base::fail(MPI_ERR_ARG, "{} is {}, but there are {}: MPI_Type_get_envelope tells how many", name,
                      room, values.size());
  }
  std::transform(values.begin(), values.end(), out, [](Count value) { return static_cast<T>(value); });
  return {};
}

/// Names that ranks gave to predefined types, which are objects of the whole process.
class PredefinedNames {
 public:
  void set(const Rank& self, const Datatype& type, std::string name) {
    const std::lock_guard lock(mutex_);
    names_[{self.number, type.handle_value()}] = std::move(name);
  }
  std::string get(const Rank& self, const Datatype& type) {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find({self.number, type.handle_value()});
    return found == names_.end() ? type.name() : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<int, std::intptr_t>, std::string> names_;
};

PredefinedNames& predefined_names() {
  static auto& names = *new PredefinedNames;
  return names;
}

Count elements_or_undefined(const MPI_Status& status, const Datatype& type) {
  const Count elements = type.elements_in(core::bytes_of(status));
  return elements < 0 ? MPI_UNDEFINED : elements;
}

Status set_elements(MPI_Status* status, const Datatype& type, Count count) {
  if (count < 0) return base::fail(MPI_ERR_COUNT, "count is {}, but must not be negative", count);
  core::set_bytes(*status, type.bytes_of_elements(count));
  return {};
}

}  // namespace

Status type_size(Rank&, const Datatype& datatype, Count* size) {
  *size = datatype.size();
  return {};
}

Status type_size_x(Rank& self, const Datatype& datatype, MPI_Count* size) {
  return type_size(self, datatype, size);
}

Status type_get_extent(Rank&, const Datatype& datatype, Count* lb, Count* extent) {
  *lb = datatype.lb();
  *extent = datatype.extent();
  return {};
}

Status type_get_extent_x(Rank& self, const Datatype& datatype, MPI_Count* lb, MPI_Count* extent) {
  return type_get_extent(self, datatype, lb, extent);
}

Status type_get_true_extent(Rank&, const Datatype& datatype, Count* true_lb, Count* true_extent) {
  *true_lb = datatype.true_lb();
  *true_extent = datatype.true_extent();
  return {};
}

Status type_get_true_extent_x(Rank& self, const Datatype& datatype, MPI_Count* true_lb,
                              MPI_Count* true_extent) {
  return type_get_true_extent(self, datatype, true_lb, true_extent);
}

Status type_get_envelope(Rank&, const Datatype& datatype, Count* num_integers, Count* num_addresses,
                         Count* num_large_counts, Count* num_datatypes, int* combiner, bool large) {
  const Contents contents = contents_of(datatype.recipe());
  if (!large && !contents.large_counts.empty()) return too_large_for_small_call(datatype);
  *num_integers = static_cast<Count>(contents.integers.size());
  *num_addresses = static_cast<Count>(contents.addresses.size());
  *num_large_counts = static_cast<Count>(contents.large_counts.size());
  *num_datatypes = static_cast<Count>(datatype.recipe().components.size());
  *combiner = datatype.recipe().combiner;
  return {};
}

Status type_get_contents(Rank& self, const Datatype& datatype, Count max_integers, Count max_addresses,
                         Count max_large_counts, Count max_datatypes, int array_of_integers[],
                         MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                         MPI_Datatype array_of_datatypes[], bool large) {
  const Recipe& recipe = datatype.recipe();
  if (recipe.combiner == MPI_COMBINER_NAMED) {
    return base::fail(MPI_ERR_TYPE, "{} is predefined and has no contents", datatype.description());
  }
  const Contents contents = contents_of(recipe);
  if (!large && !contents.large_counts.empty()) return too_large_for_small_call(datatype);
  if (static_cast<Count>(recipe.components.size()) > max_datatypes) {
    return base::fail(MPI_ERR_ARG,
                      "max_datatypes is {}, but there are {}: MPI_Type_get_envelope tells how many",
                      max_datatypes, recipe.components.size());
  }
  CLUMP_TRY(fill("max_integers", contents.integers, max_integers, array_of_integers));
  CLUMP_TRY(fill("max_addresses", contents.addresses, max_addresses, array_of_addresses));
  CLUMP_TRY(fill("max_large_counts", contents.large_counts, max_large_counts, array_of_large_counts));
  for (std::size_t i = 0; i < recipe.components.size(); ++i) {
    const datatype::Ref& component = recipe.components[i];
    if (component->is_predefined()) {
      array_of_datatypes[i] = reinterpret_cast<MPI_Datatype>(component->handle_value());
    } else {
      array_of_datatypes[i] =
          component->is_basic() ? handle_of_unnamed(self, *component) : self.add(component);
    }
  }
  return {};
}

Status type_set_name(Rank& self, const Datatype& datatype, const char* type_name) {
  std::string name(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1));
  if (datatype.is_predefined()) {
    predefined_names().set(self, datatype, std::move(name));
  } else {
    datatype.set_name(std::move(name));
  }
  return {};
}

Status type_get_name(Rank& self, MPI_Datatype datatype, char* type_name, int* resultlen) {
  // The null handle has a name, too (MPI-5.0 section 7.8).
  const Datatype* const object = self.datatype(datatype);
  if (object == nullptr && datatype != MPI_DATATYPE_NULL)
    return base::fail(MPI_ERR_TYPE, "(datatype = {:#x}): this is not a datatype", core::value_of(datatype));
  const std::string name = object == nullptr         ? "MPI_DATATYPE_NULL"
                           : object->is_predefined() ? predefined_names().get(self, *object)
                                                     : object->name();
  std::memcpy(type_name, name.c_str(), name.size() + 1);
  *resultlen = static_cast<int>(name.size());
  return {};
}

Status type_match_size(Rank&, int typeclass, int size, MPI_Datatype* datatype) {
  struct Sized {
    int typeclass;
    MPI_Datatype handle;
  };
  const Sized candidates[] = {
      {MPI_TYPECLASS_REAL, MPI_REAL2},        {MPI_TYPECLASS_REAL, MPI_REAL4},
      {MPI_TYPECLASS_REAL, MPI_REAL8},        {MPI_TYPECLASS_REAL, MPI_REAL16},
      {MPI_TYPECLASS_INTEGER, MPI_INTEGER1},  {MPI_TYPECLASS_INTEGER, MPI_INTEGER2},
      {MPI_TYPECLASS_INTEGER, MPI_INTEGER4},  {MPI_TYPECLASS_INTEGER, MPI_INTEGER8},
      {MPI_TYPECLASS_INTEGER, MPI_INTEGER16}, {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX4},
      {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16},
      {MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32},
  };
  bool known_class = false;
  for (const Sized& candidate : candidates) {
    if (candidate.typeclass != typeclass) continue;
    known_class = true;
    if (datatype::predefined(candidate.handle)->size() != size) continue;
    *datatype = candidate.handle;
    return {};
  }
  if (known_class)
    return base::fail(MPI_ERR_ARG, "size is {}, but no Fortran type of this class has {} bytes", size, size);
  return base::fail(
      MPI_ERR_ARG,
      "typeclass is {}, but must be MPI_TYPECLASS_REAL, MPI_TYPECLASS_INTEGER or MPI_TYPECLASS_COMPLEX",
      typeclass);
}

// The predefined pair where there is one, else a struct without a name, and MPI_DATATYPE_NULL where
// MPI_MINLOC and MPI_MAXLOC do not work on such a pair (MPI-5.0 section 6.9.4).
Status type_get_value_index(Rank& self, const Datatype& value_type, const Datatype& index_type,
                            MPI_Datatype* pair_type) {
  const MPI_Datatype named[] = {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,
                                MPI_2INT,      MPI_SHORT_INT,  MPI_LONG_DOUBLE_INT,
                                MPI_2REAL,     MPI_2INTEGER,   MPI_2DOUBLE_PRECISION};
  *pair_type = MPI_DATATYPE_NULL;
  if (!value_type.is_predefined() || !index_type.is_predefined()) return {};
  for (const MPI_Datatype handle : named) {
    const Datatype& pair = *datatype::predefined(handle);
    if (pair.value() != &value_type || pair.index() != &index_type) continue;
    *pair_type = handle;
    return {};
  }
  if (datatype::kernel(datatype::PredefinedOp::kMinloc, *datatype::make_pair(value_type, index_type)) !=
      nullptr)
    *pair_type = unnamed_pair(self, value_type, index_type);
  return {};
}

Status get_count(Rank&, const MPI_Status* status, const Datatype& datatype, Count* count) {
  const Count bytes = core::bytes_of(*status), size = datatype.size();
  if (size == 0) {
    *count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    *count = bytes % size == 0 ? bytes / size : MPI_UNDEFINED;
  }
  return {};
}

Status get_elements(Rank&, const MPI_Status* status, const Datatype& datatype, Count* count) {
  *count = elements_or_undefined(*status, datatype);
  return {};
}

Status get_elements_x(Rank& self, const MPI_Status* status, const Datatype& datatype, MPI_Count* count) {
  return get_elements(self, status, datatype, count);
}

Status status_set_elements(Rank&, MPI_Status* status, const Datatype& datatype, Count count) {
  return set_elements(status, datatype, count);
}

Status status_set_elements_x(Rank&, MPI_Status* status, const Datatype& datatype, MPI_Count count) {
  return set_elements(status, datatype, count);
}

}  // namespace clump::mpi
