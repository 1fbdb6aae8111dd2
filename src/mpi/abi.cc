// What the library says about its ABI, and what it is told about Fortran (MPI-5.0 chapter 20). Each rank is
// told by its own Fortran layer.
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/process.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;

/// The default kinds of Fortran whose sizes are told.
struct Kind {
  const char* key;
  MPI_Datatype type;
};
const Kind kKinds[] = {
    {"mpi_logical_size", MPI_LOGICAL},
    {"mpi_integer_size", MPI_INTEGER},
    {"mpi_real_size", MPI_REAL},
    {"mpi_double_precision_size", MPI_DOUBLE_PRECISION},
};

/// A type that the compiler has in a size other than ours would be sent wrongly.
Status check_size(const Rank& self, const Kind& kind, const std::string& value) {
  Count size = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, size);
  if (error != std::errc() || rest != end || size <= 0)
    return base::fail(MPI_ERR_INFO_VALUE, "(info): {} is \"{}\": it has to be a number of bytes", kind.key,
                      value);
  const datatype::Datatype& ours = *self.datatype(kind.type);
  if (size != ours.size())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "(info): {} is {}, but {} has {} bytes here; compile without options that change the "
                      "size of Fortran's default kinds",
                      kind.key, size, ours.name(), ours.size());
  return {};
}

Status check_logical_size(int size) {
  if (size > 0 && size <= 16 && std::has_single_bit(static_cast<unsigned>(size))) return {};
  return base::fail(MPI_ERR_ARG, "(logical_size = {}): a LOGICAL has 1, 2, 4, 8 or 16 bytes", size);
}

/// Reductions of MPI_LOGICAL take what is not zero as true, and write zero and one. All compilers that we
/// know understand this; they differ in the bits above the lowest.
Status check_values(const std::byte* logical_true, const std::byte* logical_false, int size) {
  bool zero = true;
  for (int i = 0; i < size; ++i) zero = zero && logical_false[i] == std::byte{0};
  const bool odd = (logical_true[0] & std::byte{1}) != std::byte{0};
  if (zero && odd) return {};
  return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "({}): reductions of MPI_LOGICAL work where .FALSE. is zero and the lowest bit of .TRUE. "
                    "is set; this compiler has something else",
                    zero ? "logical_true" : "logical_false");
}

Status told_already(const char* what) {
  return base::fail(MPI_ERR_ABI, "{} of this rank's Fortran compiler was set before, and cannot be changed",
                    what);
}

}  // namespace

Status abi_get_version(Rank*, int* abi_major, int* abi_minor) {
  note_abi_question();
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return {};
}

Status abi_get_info(Rank& self, MPI_Info* info) {
  auto facts = std::make_unique<core::Info>();
  facts->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  facts->set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
  facts->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  *info = self.add(std::move(facts));
  return {};
}

Status abi_set_fortran_info(Rank& self, core::Info& info) {
  const std::lock_guard lock(self.fortran.mutex);
  if (self.fortran.info != nullptr) return told_already("the information");
  for (const Kind& kind : kKinds)
    if (const auto value = info.get(kind.key)) CLUMP_TRY(check_size(self, kind, *value));
  auto copy = std::make_unique<core::Info>();
  copy->set_all(info);
  self.fortran.info = std::move(copy);
  return {};
}

Status abi_get_fortran_info(Rank& self, MPI_Info* info) {
  const std::lock_guard lock(self.fortran.mutex);
  *info = MPI_INFO_NULL;
  if (self.fortran.info == nullptr) return {};
  auto copy = std::make_unique<core::Info>();
  copy->set_all(*self.fortran.info);
  *info = self.add(std::move(copy));
  return {};
}

Status abi_set_fortran_booleans(Rank& self, int logical_size, void* logical_true, void* logical_false) {
  CLUMP_TRY(check_logical_size(logical_size));
  const std::lock_guard lock(self.fortran.mutex);
  if (self.fortran.logical_size != 0) return told_already("the value of .TRUE. and .FALSE.");
  const auto bytes = static_cast<std::size_t>(logical_size);
  CLUMP_TRY(check_values(static_cast<const std::byte*>(logical_true),
                         static_cast<const std::byte*>(logical_false), logical_size));
  std::memcpy(self.fortran.logical_true.data(), logical_true, bytes);
  std::memcpy(self.fortran.logical_false.data(), logical_false, bytes);
  self.fortran.logical_size = logical_size;
  return {};
}

/// What is known is of the size that was told.
Status abi_get_fortran_booleans(Rank& self, int logical_size, void* logical_true, void* logical_false,
                                int* is_set) {
  CLUMP_TRY(check_logical_size(logical_size));
  const std::lock_guard lock(self.fortran.mutex);
  *is_set = self.fortran.logical_size == logical_size;
  if (*is_set == 0) return {};
  const auto bytes = static_cast<std::size_t>(logical_size);
  std::memcpy(logical_true, self.fortran.logical_true.data(), bytes);
  std::memcpy(logical_false, self.fortran.logical_false.data(), bytes);
  return {};
}

}  // namespace clump::mpi
