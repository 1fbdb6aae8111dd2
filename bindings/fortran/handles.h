// Arguments that are handles: INTEGERs in Fortran. What number a handle has is in numbers.h, which belongs to
// the C library beneath.
#pragma once

#include "entry.h"
#include "numbers.h"
#include "scratch.h"

namespace clump::fortran {

/// A handle that a function makes. What the function does not write, Fortran's variable keeps.
template <typename Handle>
class OutHandle {
 public:
  explicit OutHandle(Integer* target) : target_(target) {}
  ~OutHandle() {
    if (value_ != nothing<Handle>()) *target_ = integer(value_);
  }
  OutHandle(const OutHandle&) = delete;
  OutHandle& operator=(const OutHandle&) = delete;
  operator Handle*() { return &value_; }  // NOLINT: it is made to be an argument

 private:
  Integer* target_;
  Handle value_ = nothing<Handle>();
};

/// A handle that a function reads and changes.
template <typename Handle>
class ChangedHandle {
 public:
  explicit ChangedHandle(Integer* target)
      : target_(target), before_(handle<Handle>(*target)), value_(before_) {}
  ~ChangedHandle() {
    if (value_ != before_) *target_ = integer(value_);
  }
  ChangedHandle(const ChangedHandle&) = delete;
  ChangedHandle& operator=(const ChangedHandle&) = delete;
  operator Handle*() { return &value_; }  // NOLINT

 private:
  Integer* target_;
  Handle before_;
  Handle value_;
};

/// An array of handles that is read.
template <typename Handle>
class Handles {
 public:
  Handles(const Integer* numbers, MPI_Count count) : all_(count) {
    for (MPI_Count i = 0; i < count; ++i) all_[i] = handle<Handle>(numbers[i]);
  }
  operator Handle*() { return all_.data(); }  // NOLINT

 private:
  Scratch<Handle> all_;
};

/// An array of handles that is read and changed.
template <typename Handle>
class ChangedHandles {
 public:
  ChangedHandles(Integer* numbers, MPI_Count count) : numbers_(numbers), count_(count), all_(count) {
    for (MPI_Count i = 0; i < count; ++i) all_[i] = handle<Handle>(numbers[i]);
  }
  ~ChangedHandles() {
    for (MPI_Count i = 0; i < count_; ++i) numbers_[i] = integer(all_[i]);
  }
  ChangedHandles(const ChangedHandles&) = delete;
  ChangedHandles& operator=(const ChangedHandles&) = delete;
  operator Handle*() { return all_.data(); }  // NOLINT

 private:
  Integer* numbers_;
  MPI_Count count_;
  Scratch<Handle> all_;
};

/// An array of handles that is written. What the function does not write, Fortran's array keeps.
template <typename Handle>
class OutHandles {
 public:
  OutHandles(Integer* numbers, MPI_Count count) : numbers_(numbers), count_(count), all_(count) {
    for (MPI_Count i = 0; i < count; ++i) all_[i] = nothing<Handle>();
  }
  ~OutHandles() {
    for (MPI_Count i = 0; i < count_; ++i)
      if (all_[i] != nothing<Handle>()) numbers_[i] = integer(all_[i]);
  }
  OutHandles(const OutHandles&) = delete;
  OutHandles& operator=(const OutHandles&) = delete;
  operator Handle*() { return all_.data(); }  // NOLINT

 private:
  Integer* numbers_;
  MPI_Count count_;
  Scratch<Handle> all_;
};

}  // namespace clump::fortran
