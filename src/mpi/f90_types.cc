// Datatypes chosen by decimal precision and range (MPI-5.0 section 19.1.9), as gfortran's selected_real_kind
// and selected_int_kind choose them: the smallest kind that is good enough.
#include <map>
#include <mutex>
#include <tuple>

#include "core/rank.h"
#include "mpi/bodies.h"

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

/// The user gets the same handle for the same question (as the standard asks), in each rank its own.
class Handles {
 public:
  MPI_Datatype get(Rank& self, int combiner, int p, int r, MPI_Datatype like) {
    const std::lock_guard lock(mutex_);
    MPI_Datatype& handle = handles_[{self.number, combiner, p, r}];
    if (handle == nullptr) {
      datatype::Recipe recipe{.combiner = combiner};
      if (combiner != MPI_COMBINER_F90_INTEGER) recipe.arguments.push_back(p);
      recipe.arguments.push_back(r);
      handle = self.add(datatype::make_unnamed(*datatype::predefined(like), std::move(recipe)));
    }
    return handle;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<int, int, int, int>, MPI_Datatype> handles_;
};

Handles& handles() {
  static Handles instance;
  return instance;
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
  *newtype = handles().get(self, MPI_COMBINER_F90_REAL, p, r, kind.real);
  return {};
}

Status type_create_f90_complex(Rank& self, int p, int r, MPI_Datatype* newtype) {
  RealKind kind{};
  CLUMP_TRY(find_real(p, r, kind));
  *newtype = handles().get(self, MPI_COMBINER_F90_COMPLEX, p, r, kind.complex);
  return {};
}

Status type_create_f90_integer(Rank& self, int r, MPI_Datatype* newtype) {
  const IntegerKind kinds[] = {
      {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}, {38, MPI_INTEGER16}};
  for (const IntegerKind& kind : kinds) {
    if (kind.range < r) continue;
    *newtype = handles().get(self, MPI_COMBINER_F90_INTEGER, 0, r, kind.integer);
    return {};
  }
  return base::fail(MPI_ERR_ARG, "no Fortran integer has a range of 10**{}: at most 38 is offered", r);
}

}  // namespace clump::mpi
