// Handles as ints: those of Fortran, and of MPI_X_toint. Predefined handles have numbers of Open MPI's, which
// its mpif.h fixes (facts.txt); one that is made at run time has its value in the standard's ABI, which is
// above these.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "family.h"
#include "handles.h"

namespace clump::facade {

/// `standard`: the standard's values of a type's handles by their numbers in Fortran; 0: none.
template <typename Handle>
struct FortranNumbers;

#include "fortran_numbers.inc"

namespace detail {

/// From the standard's value to the number in Fortran; -1: none. Values of all types differ.
template <typename... Handles>
constexpr std::array<std::int16_t, kPredefined> fortran_numbers() {
  std::array<std::int16_t, kPredefined> numbers{};
  for (std::int16_t& number : numbers) number = -1;
  const auto note = [&numbers](const auto& values) {
    std::int16_t number = 0;
    for (const std::uint16_t value : values) {
      if (value != 0) numbers[value] = number;
      ++number;
    }
  };
  (note(FortranNumbers<Handles>::standard), ...);
  return numbers;
}

inline constexpr std::array<std::int16_t, kPredefined> kFortranNumbers =
    fortran_numbers<Comm, Group, Win, Session, Message, Info, Errhandler, Request, Op, Datatype, File>();

/// Objects that are no handles of the standard's.
struct OtherObject {
  int number;
  void* address;
};
inline const OtherObject kOtherDatatypes[] = {{kLb, ompi_mpi_lb},
                                              {kUb, ompi_mpi_ub},
                                              {k2Complex, ompi_mpi_2cplex},
                                              {k2DoubleComplex, ompi_mpi_2dblcplex}};

}  // namespace detail

/// The number of a handle. One that has none in Open MPI has its value in the standard's ABI, and one that is
/// no handle has -1.
template <typename Handle>
inline int number_of(Handle handle) {
  if (handle == nullptr) return -1;
  if constexpr (std::is_same_v<Handle, Datatype>) {
    for (const detail::OtherObject& other : detail::kOtherDatatypes)
      if (other.address == handle) return other.number;
  }
  const auto value = reinterpret_cast<std::uintptr_t>(standard(handle));
  if (value >= detail::kPredefined) return value >> 31 == 0 ? static_cast<int>(value) : -1;
  const int number = detail::kFortranNumbers[value];
  if (number >= 0) return number;
  return detail::clump_openmpi_objects[value] != nullptr ? static_cast<int>(value) : -1;
}

/// Null, which every function refuses, if no handle has this number.
template <typename Handle>
inline Handle handle_of(int number) {
  if (number < 0) return nullptr;
  if constexpr (std::is_same_v<Handle, Datatype>) {
    for (const detail::OtherObject& other : detail::kOtherDatatypes)
      if (other.number == number) return static_cast<Datatype>(other.address);
  }
  auto value = static_cast<std::uintptr_t>(number);
  if (value < std::size(FortranNumbers<Handle>::standard)) value = FortranNumbers<Handle>::standard[value];
  return program<Handle>(reinterpret_cast<StandardOf<Handle>>(value));
}

}  // namespace clump::facade
