// Datatypes chosen by decimal precision and range (MPI-5.0 section 19.1.9), as gfortran's selected_real_kind
// and selected_int_kind choose them: the smallest kind that is good enough.
#include <utility>
#include <vector>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/unnamed_types.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;

struct RealKind {
  int precision, range;
  MPI_Datatype real, complex;
};
constexpr int kRealKinds = 4;

struct IntegerKind {
  int range;
  MPI_Datatype integer;
};

MPI_Datatype chosen(Rank& self, MPI_Datatype like, int combiner, std::vector<Count> question) {
  datatype::Recipe recipe{.combiner = combiner};
  recipe.arguments = std::move(question);
  return unnamed_type(self, *datatype::predefined(like), std::move(recipe));
}

/// Whether a kind offers what was asked for; MPI_UNDEFINED asks for nothing.
bool enough(int offered, int wanted) { return wanted == MPI_UNDEFINED || offered >= wanted; }

Status find_real(int p, int r, RealKind& found) {
  const RealKind kinds[kRealKinds] = {{6, 37, MPI_REAL4, MPI_COMPLEX8},
                                      {15, 307, MPI_REAL8, MPI_COMPLEX16},
                                      {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
                                      {33, 4931, MPI_REAL16, MPI_COMPLEX32}};
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
    return base::fail(MPI_ERR_ARG, "p and r are both MPI_UNDEFINED, but at least one must be given");
  for (const RealKind& kind : kinds) {
    if (!enough(kind.precision, p) || !enough(kind.range, r)) continue;
    found = kind;
    return {};
  }
  return base::fail(
      MPI_ERR_ARG,
      "no Fortran real has {} decimal digits and a range of 10**{}: at most 33 and 4931 are offered", p, r);
}

}  // namespace

Status type_create_f90_real(Rank& self, int p, int r, MPI_Datatype* newtype) {
  RealKind kind{};
  CLUMP_TRY(find_real(p, r, kind));
  *newtype = chosen(self, kind.real, MPI_COMBINER_F90_REAL, {p, r});
  return {};
}

Status type_create_f90_complex(Rank& self, int p, int r, MPI_Datatype* newtype) {
  RealKind kind{};
  CLUMP_TRY(find_real(p, r, kind));
  *newtype = chosen(self, kind.complex, MPI_COMBINER_F90_COMPLEX, {p, r});
  return {};
}

Status type_create_f90_integer(Rank& self, int r, MPI_Datatype* newtype) {
  const IntegerKind kinds[] = {
      {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}, {38, MPI_INTEGER16}};
  for (const IntegerKind& kind : kinds) {
    if (kind.range < r) continue;
    *newtype = chosen(self, kind.integer, MPI_COMBINER_F90_INTEGER, {r});
    return {};
  }
  return base::fail(MPI_ERR_ARG, "no Fortran integer has a range of 10**{}: at most 38 is offered", r);
}

}  // namespace clump::mpi
