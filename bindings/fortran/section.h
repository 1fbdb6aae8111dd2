// Buffers of `use mpi_f08`: TYPE(*), DIMENSION(..), which may be sections of arrays that are not contiguous.
//
// The message is the elements of the section in their order. A section becomes a datatype that describes it
// in place. Where this cannot be (a reduction wants a predefined datatype, displacements count in blocks),
// the call works on a copy, which the MPI library keeps if the operation goes on after the call: its request
// brings the data back. Where there is no request (MPI_Put), or the library keeps no copies, the call is
// refused. Of a copy only those elements go back that the call has changed: the others are not its buffer,
// and a message or another thread may be writing them.
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
/// When the library is done with it.
enum class Call : unsigned char {
  kBlocking,    ///< when the call returns
  kRequest,     ///< when the request that it makes is complete
  kPersistent,  ///< the same, each time that the request was started
  kLater,       ///< some time: no request tells
};
enum class Access : bool { kRead, kWrite };
struct Purpose {
  Use use;
  Call call;
  Access access;
};

/// What lies in a buffer, as far as the call says it with one number.
struct Message {
  static constexpr MPI_Count kUnsaid = -(MPI_Count{1} << 62);
  MPI_Count count = kUnsaid;  ///< of elements; for Use::kBlocks of those of a block
  Integer datatype = 0;
};

/// At which ranks a buffer means something. Elsewhere it is not looked at: it may be no array at all.
struct Where {
  enum class At : unsigned char {
    kAll,
    kRoot,    ///< what the root gathers or scatters
    kPeers,   ///< what it gathers from, or scatters to: not its own group, if there are two
    kSenders  ///< what is broadcast: not at the others of the root's group, if there are two
  };
  At at = At::kAll;
  Integer comm = 0;
  Integer root = 0;

  [[nodiscard]] bool is_here() const;
};

struct Copy;

class Section {
 public:
  Section(const Descriptor* array, Purpose purpose, Message message = {}, Where where = {})
      : address_(c_buffer(array->address)),
        count_(message.count),
        datatype_(handle<MPI_Datatype>(message.datatype)) {
    // An array that is not allocated has the address null, and its other fields mean nothing.
    if (purpose.use != Use::kAddress && array->rank != 0 && array->address != nullptr &&
        !is_contiguous(*array))
      describe(*array, purpose, where);
  }
  ~Section() {
    if (is_made_ || copy_ != nullptr) release();
  }
  /// After a call with Call::kRequest or kPersistent: whether it has made the request.
  void keep_until_done(const Integer* request, int code) {
    if (copy_ != nullptr && code == MPI_SUCCESS) keep(*request);
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // What the C function gets.
  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] MPI_Count count() const { return count_; }
  [[nodiscard]] MPI_Datatype datatype() const { return datatype_; }

  /// Whether the call can be made. If not, refuse() raises the error, with the error handler of what the call
  /// is made on, and returns its code.
  [[nodiscard]] bool is_right() const { return error_ == MPI_SUCCESS; }
  [[nodiscard]] int refuse(const char* function, const char* argument, MPI_Comm comm) const;
  [[nodiscard]] int refuse(const char* function, const char* argument, MPI_File file) const;
  [[nodiscard]] int refuse(const char* function, const char* argument, MPI_Win win) const;
  [[nodiscard]] int refuse(const char* function, const char* argument, MPI_Session session) const;

 private:
  void describe(const Descriptor& array, Purpose purpose, Where where);
  bool describe_block(const Descriptor& array);
  bool describe_blocks(const Descriptor& array);
  void copy(const Descriptor& array, MPI_Count elements, Purpose purpose);
  void keep(Integer request);
  void release();
  [[nodiscard]] int code_of_refusal(const char* function, const char* argument) const;

  void* address_;
  MPI_Count count_;
  MPI_Datatype datatype_;
  int error_ = MPI_SUCCESS;
  bool is_made_ = false;  ///< datatype_ was made here
  Copy* copy_ = nullptr;  ///< of the elements
};

}  // namespace clump::fortran
