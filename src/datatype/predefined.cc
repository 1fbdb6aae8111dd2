// The predefined datatypes of the ABI (MPI-5.0 sections 3.2.2 and 20.3), with the sizes of the C and Fortran
// compilers of this platform. Fortran types are gfortran's and ifx's: default INTEGER, REAL and LOGICAL have
// 4 bytes. MPI_REAL2 and MPI_COMPLEX4 are IEEE half precision and MPI_REAL16 is IEEE quadruple precision.
#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "datatype/datatype.h"

namespace clump::datatype {
namespace {

// Kinds that a program may mix in one message, such as MPI_LONG and MPI_AINT, are told apart only by their
// size.
Class kind_in_signature(Class kind) {
  return kind == Class::kFortranInteger || kind == Class::kMultiLanguage ? Class::kInteger : kind;
}

Signature signature_of(Class kind, Count size, bool extended) {
  const auto word = static_cast<std::uint64_t>(kind_in_signature(kind)) << 8 |
                    static_cast<std::uint64_t>(size) << 1 | static_cast<std::uint64_t>(extended);
  return {.elements = 1, .hash = (word + 1) * 0xd6e8feb86659fd93, .packed = kind == Class::kPacked};
}

void put(MPI_Datatype handle, const char* name, Class kind, Datatype::Parts parts) {
  parts.kind = kind;
  parts.name = name;
  parts.handle = reinterpret_cast<std::intptr_t>(handle);
  auto& place = detail::predefined_types.at(parts.handle - detail::kFirstHandle);
  place = Ref(new Datatype(std::move(parts))).release_to_owner();
}

void add(MPI_Datatype handle, const char* name, Class kind, std::size_t size, std::size_t alignment) {
  // x87 numbers have the size of quadruple precision ones, but nothing else in common with them.
  const bool extended = handle == MPI_LONG_DOUBLE || handle == MPI_C_LONG_DOUBLE_COMPLEX ||
                        handle == MPI_CXX_LONG_DOUBLE_COMPLEX;
  const auto bytes = static_cast<Count>(size);
  Datatype::Parts parts;
  parts.program = Program(Node::solid(bytes));
  parts.bounds = Bounds{.lb = 0, .ub = bytes, .true_lb = 0, .true_ub = bytes};
  parts.alignment = static_cast<Count>(alignment);
  parts.signature = signature_of(kind, bytes, extended);
  put(handle, name, kind, std::move(parts));
}

template <typename T>
void add(MPI_Datatype handle, const char* name, Class kind) {
  add(handle, name, kind, sizeof(T), alignof(T));
}

Count round_up(Count bytes, Count alignment) { return (bytes + alignment - 1) / alignment * alignment; }

Datatype::Parts pair_of(const Datatype& value, const Datatype& index) {
  const Count place = round_up(value.size(), index.alignment()), end = place + index.size();
  Datatype::Parts parts;
  parts.alignment = std::max(value.alignment(), index.alignment());
  parts.program.set_root(parts.program.list({Node::solid(value.size()), Node::solid(index.size(), place)}));
  parts.bounds = Bounds{.lb = 0, .ub = round_up(end, parts.alignment), .true_lb = 0, .true_ub = end};
  parts.signature = value.signature().then(index.signature());
  parts.kind = Class::kPair;
  parts.value = &value;
  parts.index = &index;
  return parts;
}

void add_pair(MPI_Datatype handle, const char* name, MPI_Datatype value, MPI_Datatype index) {
  put(handle, name, Class::kPair, pair_of(*predefined(value), *predefined(index)));
}

void add_c_types() {
  add<char>(MPI_CHAR, "MPI_CHAR", Class::kCharacter);
  add<signed char>(MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", Class::kInteger);
  add<unsigned char>(MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", Class::kUnsigned);
  add<short>(MPI_SHORT, "MPI_SHORT", Class::kInteger);
  add<unsigned short>(MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", Class::kUnsigned);
  add<int>(MPI_INT, "MPI_INT", Class::kInteger);
  add<unsigned>(MPI_UNSIGNED, "MPI_UNSIGNED", Class::kUnsigned);
  add<long>(MPI_LONG, "MPI_LONG", Class::kInteger);
  add<unsigned long>(MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", Class::kUnsigned);
  add<long long>(MPI_LONG_LONG, "MPI_LONG_LONG_INT", Class::kInteger);
  add<unsigned long long>(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", Class::kUnsigned);
  add<wchar_t>(MPI_WCHAR, "MPI_WCHAR", Class::kCharacter);
  add<float>(MPI_FLOAT, "MPI_FLOAT", Class::kFloating);
  add<double>(MPI_DOUBLE, "MPI_DOUBLE", Class::kFloating);
  add<long double>(MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", Class::kFloating);
  add<std::complex<float>>(MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", Class::kComplex);
  add<std::complex<double>>(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", Class::kComplex);
  add<std::complex<long double>>(MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", Class::kComplex);
  add<std::complex<float>>(MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", Class::kComplex);
  add<std::complex<double>>(MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", Class::kComplex);
  add<std::complex<long double>>(MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", Class::kComplex);
  add<bool>(MPI_C_BOOL, "MPI_C_BOOL", Class::kLogical);
  add<bool>(MPI_CXX_BOOL, "MPI_CXX_BOOL", Class::kLogical);
  add<MPI_Aint>(MPI_AINT, "MPI_AINT", Class::kMultiLanguage);
  add<MPI_Count>(MPI_COUNT, "MPI_COUNT", Class::kMultiLanguage);
  add<MPI_Offset>(MPI_OFFSET, "MPI_OFFSET", Class::kMultiLanguage);
  add(MPI_BYTE, "MPI_BYTE", Class::kByte, 1, 1);
  add(MPI_PACKED, "MPI_PACKED", Class::kPacked, 1, 1);
}

void add_fixed_size_types() {
  add<std::int8_t>(MPI_INT8_T, "MPI_INT8_T", Class::kInteger);
  add<std::int16_t>(MPI_INT16_T, "MPI_INT16_T", Class::kInteger);
  add<std::int32_t>(MPI_INT32_T, "MPI_INT32_T", Class::kInteger);
  add<std::int64_t>(MPI_INT64_T, "MPI_INT64_T", Class::kInteger);
  add<std::uint8_t>(MPI_UINT8_T, "MPI_UINT8_T", Class::kUnsigned);
  add<std::uint16_t>(MPI_UINT16_T, "MPI_UINT16_T", Class::kUnsigned);
  add<std::uint32_t>(MPI_UINT32_T, "MPI_UINT32_T", Class::kUnsigned);
  add<std::uint64_t>(MPI_UINT64_T, "MPI_UINT64_T", Class::kUnsigned);
}

void add_fortran_types() {
  add(MPI_CHARACTER, "MPI_CHARACTER", Class::kCharacter, 1, 1);
  add(MPI_LOGICAL, "MPI_LOGICAL", Class::kLogical, 4, 4);
  add(MPI_INTEGER, "MPI_INTEGER", Class::kFortranInteger, 4, 4);
  add(MPI_REAL, "MPI_REAL", Class::kFloating, 4, 4);
  add(MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", Class::kFloating, 8, 8);
  add(MPI_COMPLEX, "MPI_COMPLEX", Class::kComplex, 8, 4);
  add(MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", Class::kComplex, 16, 8);
  add(MPI_LOGICAL1, "MPI_LOGICAL1", Class::kLogical, 1, 1);
  add(MPI_LOGICAL2, "MPI_LOGICAL2", Class::kLogical, 2, 2);
  add(MPI_LOGICAL4, "MPI_LOGICAL4", Class::kLogical, 4, 4);
  add(MPI_LOGICAL8, "MPI_LOGICAL8", Class::kLogical, 8, 8);
  add(MPI_LOGICAL16, "MPI_LOGICAL16", Class::kLogical, 16, 16);
  add(MPI_INTEGER1, "MPI_INTEGER1", Class::kFortranInteger, 1, 1);
  add(MPI_INTEGER2, "MPI_INTEGER2", Class::kFortranInteger, 2, 2);
  add(MPI_INTEGER4, "MPI_INTEGER4", Class::kFortranInteger, 4, 4);
  add(MPI_INTEGER8, "MPI_INTEGER8", Class::kFortranInteger, 8, 8);
  add(MPI_INTEGER16, "MPI_INTEGER16", Class::kFortranInteger, 16, 16);
  add(MPI_REAL2, "MPI_REAL2", Class::kFloating, 2, 2);
  add(MPI_REAL4, "MPI_REAL4", Class::kFloating, 4, 4);
  add(MPI_REAL8, "MPI_REAL8", Class::kFloating, 8, 8);
  add(MPI_REAL16, "MPI_REAL16", Class::kFloating, 16, 16);
  add(MPI_COMPLEX4, "MPI_COMPLEX4", Class::kComplex, 4, 2);
  add(MPI_COMPLEX8, "MPI_COMPLEX8", Class::kComplex, 8, 4);
  add(MPI_COMPLEX16, "MPI_COMPLEX16", Class::kComplex, 16, 8);
  add(MPI_COMPLEX32, "MPI_COMPLEX32", Class::kComplex, 32, 16);
}

// C structs of a value and an int, and Fortran arrays of two numbers.
void add_pairs() {
  add_pair(MPI_FLOAT_INT, "MPI_FLOAT_INT", MPI_FLOAT, MPI_INT);
  add_pair(MPI_DOUBLE_INT, "MPI_DOUBLE_INT", MPI_DOUBLE, MPI_INT);
  add_pair(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE, MPI_INT);
  add_pair(MPI_SHORT_INT, "MPI_SHORT_INT", MPI_SHORT, MPI_INT);
  add_pair(MPI_2INT, "MPI_2INT", MPI_INT, MPI_INT);
  add_pair(MPI_LONG_INT, "MPI_LONG_INT", MPI_LONG, MPI_INT);
  add_pair(MPI_2REAL, "MPI_2REAL", MPI_REAL, MPI_REAL);
  add_pair(MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION);
  add_pair(MPI_2INTEGER, "MPI_2INTEGER", MPI_INTEGER, MPI_INTEGER);
}

/// Before any other initialiser, which may want a type.
[[gnu::constructor(101)]] void make_predefined_types() {
  add_c_types();
  add_fixed_size_types();
  add_fortran_types();
  add_pairs();
}

}  // namespace

Ref make_pair(const Datatype& value, const Datatype& index) {
  Datatype::Parts parts = pair_of(value, index);
  parts.recipe.combiner = MPI_COMBINER_VALUE_INDEX;
  parts.recipe.components = {Ref(&value), Ref(&index)};
  Ref made(new Datatype(std::move(parts)));
  made->commit();
  return made;
}

constinit std::array<const Datatype*, detail::kEndHandle - detail::kFirstHandle> detail::predefined_types{};

}  // namespace clump::datatype
