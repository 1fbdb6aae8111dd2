// Arguments that a call of the standard's ABI writes, or that are arrays: each is an object that lives as
// long as the call's full expression, converts to what the standard's function wants, and gives the program
// its results when it is destroyed.
//
// A null pointer is passed on as it is, so that the standard's function complains of it. A result that the
// function has not written is not written for the program either.
#pragma once

#include <cstdlib>

#include "abi_library.h"
#include "family.h"
#include "handles.h"
#include "numbers.h"

namespace clump::facade {

/// Results that an error handler of the program finds converted, too (ResultsOfHandler): it may look at them,
/// or leave by longjmp(), and then no destructor runs. `T::give()` converts what the call has written so far.
class ShownResult {
 public:
  ShownResult(const ShownResult&) = delete;
  ShownResult& operator=(const ShownResult&) = delete;

 protected:
  explicit ShownResult(void (*give)(ShownResult*)) : give_(give), next_(first) { first = this; }
  ~ShownResult() { first = next_; }

 private:
  friend class ResultsOfHandler;
  void (*const give_)(ShownResult*);
  ShownResult* const next_;
  /// Those of the call that the thread is in, and of one in whose callback that is made. The model needs no
  /// function of ld.so: a facade needs the C library only.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local ShownResult* first = nullptr;
};
template <typename T>
class Shown : public T, private ShownResult {
 public:
  template <typename... Arguments>
  explicit Shown(Arguments... arguments)
      : T(arguments...), ShownResult([](ShownResult* self) { static_cast<Shown*>(self)->give(); }) {}
};

/// For an error handler of the program. Calls that it makes have results of their own.
class ResultsOfHandler {
 public:
  ResultsOfHandler() : before_(ShownResult::first) {
    for (ShownResult* one = before_; one != nullptr; one = one->next_) one->give_(one);
    ShownResult::first = nullptr;
  }
  /// The handler has returned.
  ~ResultsOfHandler() { ShownResult::first = before_; }
  ResultsOfHandler(const ResultsOfHandler&) = delete;
  ResultsOfHandler& operator=(const ResultsOfHandler&) = delete;

 private:
  ShownResult* const before_;
};

/// A status that the call writes.
class OutStatus {
 public:
  explicit OutStatus(Status* status) : to_(status) {
    value_.MPI_SOURCE = kUntouched;
    value_.MPI_ERROR = kUntouched;
  }
  OutStatus(const OutStatus&) = delete;
  OutStatus& operator=(const OutStatus&) = delete;
  ~OutStatus() { give(); }
  void give() {
    if (!has_place() || value_.MPI_SOURCE == kUntouched) return;
    to_program(value_, *to_);
    value_.MPI_SOURCE = value_.MPI_ERROR = kUntouched;
  }
  operator MPI_Status*() { return has_place() ? &value_ : MPI_STATUS_IGNORE; }  // NOLINT: for arguments

 private:
  bool has_place() const { return is_place(to_); }
  Status* to_;
  MPI_Status value_;
};

/// A status that the call reads, or changes.
class InStatus {
 public:
  explicit InStatus(const Status* status) : from_(status) {
    if (has_place()) to_standard(*status, value_);
  }
  operator const MPI_Status*() const { return has_place() ? &value_ : nullptr; }  // NOLINT

 private:
  bool has_place() const { return is_place(from_); }
  const Status* from_;
  MPI_Status value_{};
};

class ChangedStatus {
 public:
  explicit ChangedStatus(Status* status) : to_(status) {
    if (has_place()) to_standard(*status, value_);
  }
  ChangedStatus(const ChangedStatus&) = delete;
  ChangedStatus& operator=(const ChangedStatus&) = delete;
  ~ChangedStatus() {
    if (has_place()) to_program(value_, *to_);
  }
  operator MPI_Status*() { return has_place() ? &value_ : nullptr; }  // NOLINT

 private:
  bool has_place() const { return is_place(to_); }
  Status* to_;
  MPI_Status value_{};
};

/// Memory for the elements of an argument: on the stack if they are few. Null if there is none left.
template <typename T, int kFew>
class Memory {
 public:
  explicit Memory(MPI_Count count)
      : data_(count <= kFew ? few_
                            : static_cast<T*>(std::malloc(static_cast<std::size_t>(count) * sizeof(T)))) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (data_ != few_) std::free(data_);
  }
  T* data() { return data_; }
  T& operator[](MPI_Count i) { return data_[i]; }

 private:
  T few_[kFew];
  T* data_;
};

class OutStatuses {
 public:
  OutStatuses(Status* statuses, int count)
      : to_(statuses), count_(has_place() && count > 0 ? count : 0), values_(count_) {
    if (values_.data() == nullptr) count_ = 0;
    for (int i = 0; i < count_; ++i) values_[i].MPI_SOURCE = values_[i].MPI_ERROR = kUntouched;
  }
  OutStatuses(const OutStatuses&) = delete;
  OutStatuses& operator=(const OutStatuses&) = delete;
  ~OutStatuses() { give(); }
  void give() {
    for (int i = 0; i < count_; ++i) {
      if (values_[i].MPI_SOURCE == kUntouched) continue;
      to_program(values_[i], to_[i]);
      values_[i].MPI_SOURCE = values_[i].MPI_ERROR = kUntouched;
    }
  }
  operator MPI_Status*() { return has_place() ? values_.data() : MPI_STATUSES_IGNORE; }  // NOLINT

 private:
  bool has_place() const { return is_place(to_); }
  Status* to_;
  int count_;
  Memory<MPI_Status, 16> values_;
};

/// A handle that the call gives or, if it is read, may change.
template <typename Handle>
class Out {
 public:
  explicit Out(Handle* handle, bool is_read = false)
      : to_(handle), value_(is_read && handle != nullptr ? standard(*handle) : nullptr), before_(value_) {}
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  ~Out() { give(); }
  void give() {
    if (value_ != before_) *to_ = program<Handle>(value_);
    before_ = value_;
  }
  operator StandardOf<Handle>*() { return to_ != nullptr ? &value_ : nullptr; }  // NOLINT: for arguments

 private:
  Handle* to_;
  StandardOf<Handle> value_;
  StandardOf<Handle> before_;
};

/// Handles that the call reads.
template <typename Handle>
class Handles {
 public:
  Handles(const Handle* handles, MPI_Count count)
      : is_there_(handles != nullptr), values_(is_there_ && count > 0 ? count : 0) {
    for (MPI_Count i = 0; is_there_ && i < count && values_.data() != nullptr; ++i)
      values_[i] = standard(handles[i]);
  }
  operator const StandardOf<Handle>*() { return is_there_ ? values_.data() : nullptr; }  // NOLINT

 private:
  bool is_there_;
  Memory<StandardOf<Handle>, 16> values_;
};

/// Handles that the call gives, at most `count`, or, if they are read, may change.
template <typename Handle>
class OutHandles {
 public:
  OutHandles(Handle* handles, MPI_Count count, bool is_read = false)
      : to_(handles), count_(handles != nullptr && count > 0 ? count : 0), values_(count_) {
    if (values_.data() == nullptr) count_ = 0;
    for (MPI_Count i = 0; i < count_; ++i) values_[i] = is_read ? standard(handles[i]) : nullptr;
  }
  OutHandles(const OutHandles&) = delete;
  OutHandles& operator=(const OutHandles&) = delete;
  ~OutHandles() { give(); }
  void give() {
    for (MPI_Count i = 0; i < count_; ++i) {
      if (values_[i] != nullptr) to_[i] = program<Handle>(values_[i]);
    }
  }
  operator StandardOf<Handle>*() { return to_ != nullptr ? values_.data() : nullptr; }  // NOLINT

 private:
  Handle* to_;
  MPI_Count count_;
  Memory<StandardOf<Handle>, 16> values_;
};

/// A number that the call gives, or changes: `T` is int or, in the standard's ABI, an enumeration.
template <typename T, int (*kProgram)(int), int (*kStandard)(int)>
class Number {
 public:
  explicit Number(int* number, bool is_read = false) : to_(number) {
    if (is_read && number != nullptr) value_ = static_cast<T>(kStandard(*number));
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() {
    if (static_cast<int>(value_) != kUntouched) *to_ = kProgram(static_cast<int>(value_));
  }
  operator T*() { return to_ != nullptr ? &value_ : nullptr; }  // NOLINT

 private:
  int* to_;
  T value_ = static_cast<T>(kUntouched);
};

/// Numbers of an enumeration that the call reads.
class Numbers {
 public:
  Numbers(const Table& table, const int* numbers, int count)
      : is_there_(numbers != nullptr), values_(is_there_ && count > 0 ? count : 0) {
    for (int i = 0; is_there_ && i < count && values_.data() != nullptr; ++i)
      values_[i] = standard(table, numbers[i]);
  }
  operator const int*() { return is_there_ ? values_.data() : nullptr; }  // NOLINT

 private:
  bool is_there_;
  Memory<int, 16> values_;
};

/// array_of_errcodes of MPI_Comm_spawn and MPI_Comm_spawn_multiple. Tools below the facade see the program's
/// array with codes of the standard's ABI. These are converted in their place after the call, and while an
/// error handler of the program runs (SpawnCodesOfHandler). Only the root knows how many there are, so the
/// library tells it. Null is MPI_ERRCODES_IGNORE in all ABIs.
class SpawnCodes {
 public:
  explicit SpawnCodes(int* codes) : codes_(codes) {
    if (codes != nullptr) told_ = abi::spawn_codes();
    if (told_ == nullptr) return;
    outer_ = *told_;
    *told_ = {codes, 0, false};
  }
  SpawnCodes(const SpawnCodes&) = delete;
  SpawnCodes& operator=(const SpawnCodes&) = delete;
  ~SpawnCodes() {
    if (told_ == nullptr) return;
    for (int i = 0; i < told_->count; ++i) codes_[i] = program_code(codes_[i]);
    *told_ = outer_;
  }
  operator int*() { return codes_; }  // NOLINT: for arguments

 private:
  int* codes_;
  abi::SpawnCodes* told_ = nullptr;
  abi::SpawnCodes outer_{};  ///< of a call in whose error handler the program spawns
};

/// For an error handler of the program, which may leave by longjmp: then end() is not called, so begin()
/// leaves nothing to convert. The handler may spawn, too.
class SpawnCodesOfHandler {
 public:
  /// Gives the program its codes, if the call that has failed has written them in the program's array.
  void begin() {
    told_ = abi::spawn_codes();
    if (told_ == nullptr) return;
    before_ = *told_;
    *told_ = {nullptr, 0, false};
    convert(program_code);
  }
  /// The handler has returned: tools below the facade see the standard's codes.
  void end() const {
    if (told_ == nullptr) return;
    convert(standard_code);
    *told_ = before_;
  }

 private:
  void convert(int (*to)(int)) const {
    if (!before_.are_there) return;
    int* const codes = const_cast<int*>(before_.codes);  // the program's, which SpawnCodes got as such
    for (int i = 0; i < before_.count; ++i) codes[i] = to(codes[i]);
  }
  abi::SpawnCodes* told_ = nullptr;  ///< the calling thread's
  abi::SpawnCodes before_{};         ///< of the call that has failed
};

/// The address that MPI_Buffer_detach and its kin give: `place` is that of a pointer.
class OutBuffer {
 public:
  explicit OutBuffer(void* place) : to_(static_cast<void**>(place)) {}
  OutBuffer(const OutBuffer&) = delete;
  OutBuffer& operator=(const OutBuffer&) = delete;
  ~OutBuffer() {
    if (to_ != nullptr) *to_ = program_buffer(*to_);
  }
  operator void*() { return to_; }  // NOLINT

 private:
  void** to_;
};

/// A string that the call gives: in the standard's ABI it may be longer than the program's place for it.
template <std::size_t kStandardSize, std::size_t kProgramSize>
class OutString {
 public:
  explicit OutString(char* string) : to_(string) {}
  OutString(const OutString&) = delete;
  OutString& operator=(const OutString&) = delete;
  ~OutString() {
    if (!is_written()) return;
    std::size_t i = 0;
    for (; i + 1 < kProgramSize && value_[i] != '\0'; ++i) to_[i] = value_[i];
    to_[i] = '\0';
  }
  operator char*() { return to_ != nullptr ? value_ : nullptr; }  // NOLINT

 private:
  bool is_written() const { return value_[0] != '\1'; }
  char* to_;
  char value_[kStandardSize] = {'\1'};
};

/// The length of such a string, without the final zero.
template <int kProgramSize>
class OutLength {
 public:
  explicit OutLength(int* length) : to_(length) {}
  OutLength(const OutLength&) = delete;
  OutLength& operator=(const OutLength&) = delete;
  ~OutLength() {
    if (value_ != kUntouched) *to_ = value_ < kProgramSize ? value_ : kProgramSize - 1;
  }
  operator int*() { return to_ != nullptr ? &value_ : nullptr; }  // NOLINT

 private:
  int* to_;
  int value_ = kUntouched;
};

}  // namespace clump::facade
