// Buffers of `use mpi_f08`: TYPE(*), DIMENSION(..), which may be sections of arrays that are not contiguous.
//
// The message is the elements of the section in their order. A section becomes a datatype that describes it
// in place, so there is no copy that could end before the operation does. Where this cannot be (a reduction
// wants a predefined datatype, displacements count in blocks), a call that blocks works on a copy, and one
// that does not block is refused.
#pragma once

#include "descriptor.h"
#include "handles.h"
#include "sentinels.h"

namespace clump::fortran {

/// What a buffer is to a function.
enum class Use : unsigned char {
  kOneBlock,  ///< a count of elements of a datatype
  kBlocks,    ///< several, for as many processes or partitions, at multiples of the datatype's extent
  kMemory,    ///< bytes, or elements that have to be of a predefined datatype
  kAddress,   ///< where it begins
};
enum class Call : bool { kBlocking, kNotBlocking };
enum class Access : bool { kRead, kWrite };

class Section {
 public:
  Section(const Descriptor* array, Use use, Call call, Access access, MPI_Count count = 0,
          Integer datatype = 0)
      : address_(c_buffer(array->address)), count_(count), datatype_(handle<MPI_Datatype>(datatype)) {
    if (use != Use::kAddress && array->rank != 0 && !is_contiguous(*array))
      describe(*array, use, call, access);
  }
  ~Section() {
    if (is_made_ || copy_ != nullptr) release();
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // What the C function gets.
  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] MPI_Count count() const { return count_; }
  [[nodiscard]] MPI_Datatype datatype() const { return datatype_; }

  /// Whether the call can be made. If not, refuse() raises the error and returns its code.
  [[nodiscard]] bool is_right() const { return error_ == MPI_SUCCESS; }
  [[nodiscard]] int refuse(const char* function, const char* argument, MPI_Comm comm) const;

 private:
  void describe(const Descriptor& array, Use use, Call call, Access access);
  bool describe_block(const Descriptor& array);
  bool describe_blocks(const Descriptor& array);
  void copy(const Descriptor& array, Access access);
  void release();

  void* address_;
  MPI_Count count_;
  MPI_Datatype datatype_;
  int error_ = MPI_SUCCESS;
  bool is_made_ = false;                ///< datatype_ was made here
  char* copy_ = nullptr;                ///< of the elements
  const Descriptor* target_ = nullptr;  ///< where they go back to
};

}  // namespace clump::fortran
