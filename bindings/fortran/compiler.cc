#include "compiler.h"

#include "entry.h"

namespace clump::fortran {

namespace {

struct Fact {
  const char* key;
  const char* value;
};

// gfortran and flang on 64-bit Linux, without options that change the default kinds.
constexpr Fact kFacts[] = {
    {"mpi_logical_size", "4"},
    {"mpi_integer_size", "4"},
    {"mpi_real_size", "4"},
    {"mpi_double_precision_size", "8"},
    {"mpi_logical1_supported", "true"},
    {"mpi_logical2_supported", "true"},
    {"mpi_logical4_supported", "true"},
    {"mpi_logical8_supported", "true"},
    {"mpi_logical16_supported", "true"},
    {"mpi_integer1_supported", "true"},
    {"mpi_integer2_supported", "true"},
    {"mpi_integer4_supported", "true"},
    {"mpi_integer8_supported", "true"},
    {"mpi_integer16_supported", "true"},
    {"mpi_real2_supported", "false"},
    {"mpi_real4_supported", "true"},
    {"mpi_real8_supported", "true"},
    {"mpi_real16_supported", "true"},
    {"mpi_complex4_supported", "false"},
    {"mpi_complex8_supported", "true"},
    {"mpi_complex16_supported", "true"},
    {"mpi_complex32_supported", "true"},
    {"mpi_double_complex_supported", "true"},
};

}  // namespace

void tell_about_compiler() {
  MPI_Info known = MPI_INFO_NULL;
  if (PMPI_Abi_get_fortran_info(&known) == MPI_SUCCESS && known == MPI_INFO_NULL) {
    MPI_Info info = MPI_INFO_NULL;
    if (PMPI_Info_create(&info) == MPI_SUCCESS) {
      for (const Fact& fact : kFacts) PMPI_Info_set(info, fact.key, fact.value);
      PMPI_Abi_set_fortran_info(info);
      PMPI_Info_free(&info);
    }
  } else if (known != MPI_INFO_NULL) {
    PMPI_Info_free(&known);
  }
  Logical true_value = 1;
  Logical false_value = 0;
  int is_set = 0;
  const int code = PMPI_Abi_get_fortran_booleans(sizeof(Logical), &true_value, &false_value, &is_set);
  if (code != MPI_SUCCESS || is_set != 0) return;
  true_value = 1;
  false_value = 0;
  PMPI_Abi_set_fortran_booleans(sizeof(Logical), &true_value, &false_value);
}

}  // namespace clump::fortran
