// Arguments of generated functions that are neither handles, strings nor buffers.
#pragma once

#include "characters.h"
#include "entry.h"
#include "handles.h"
#include "scratch.h"
#include "sentinels.h"

namespace clump::fortran {

/// A LOGICAL that is written.
class OutLogical {
 public:
  explicit OutLogical(Logical* target) : target_(target) {}
  ~OutLogical() {
    if (value_ != kNothing) *target_ = value_ != 0 ? 1 : 0;
  }
  OutLogical(const OutLogical&) = delete;
  OutLogical& operator=(const OutLogical&) = delete;
  operator int*() { return &value_; }  // NOLINT

 private:
  static constexpr int kNothing = -0x5a5a5a5a;
  Logical* target_;
  int value_ = kNothing;
};

/// LOGICALs that are read.
class Logicals {
 public:
  Logicals(const Logical* values, MPI_Count count) : all_(count) {
    for (MPI_Count i = 0; i < count; ++i) all_[i] = values[i] != 0 ? 1 : 0;
  }
  operator int*() { return all_.data(); }  // NOLINT

 private:
  Scratch<int> all_;
};

/// The index of a request: from 1 in Fortran.
class OutIndex {
 public:
  explicit OutIndex(Integer* target) : target_(target) {}
  ~OutIndex() {
    if (value_ != kNothing) *target_ = value_ == MPI_UNDEFINED ? value_ : value_ + 1;
  }
  OutIndex(const OutIndex&) = delete;
  OutIndex& operator=(const OutIndex&) = delete;
  operator int*() { return &value_; }  // NOLINT

 private:
  static constexpr int kNothing = -0x5a5a5a5a;
  Integer* target_;
  int value_ = kNothing;
};

/// Indices of requests. `count` has their number after the call.
class OutIndices {
 public:
  OutIndices(Integer* target, Integer* count) : target_(target), count_(count) { *count = 0; }
  ~OutIndices() {
    for (Integer i = 0; i < *count_; ++i) ++target_[i];
  }
  OutIndices(const OutIndices&) = delete;
  OutIndices& operator=(const OutIndices&) = delete;
  operator int*() { return target_; }  // NOLINT

 private:
  Integer* target_;
  const Integer* count_;
};

/// The address that is written to a TYPE(C_PTR) argument, where C may have returned a sentinel of its own.
class OutBuffer {
 public:
  explicit OutBuffer(void** target) : target_(target) {}
  ~OutBuffer() {
    if (target_ != nullptr) *target_ = fortran_buffer(value_);
  }
  OutBuffer(const OutBuffer&) = delete;
  OutBuffer& operator=(const OutBuffer&) = delete;
  operator void*() { return &value_; }  // NOLINT

 private:
  void** target_;
  void* value_ = nullptr;
};

// Lengths of arrays that the call does not say; 0 if the communicator is wrong, which the call itself tells.

/// The number of processes with which a call of MPI_Alltoallw exchanges data.
int peers_of(MPI_Comm comm);
/// The same for MPI_Neighbor_alltoallw: neighbours that are sent something, or that send something.
int neighbours_of(MPI_Comm comm, bool are_sent);
/// Whether the caller is the root of a call that has one; false if the communicator is wrong.
bool is_root(MPI_Comm comm, int root);
/// The dimensions of a Cartesian communicator.
int dimensions_of(MPI_Comm comm);

}  // namespace clump::fortran
