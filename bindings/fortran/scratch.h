// Memory for the duration of a call.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace clump::fortran {

/// `count` objects of a trivial type, uninitialised: on the stack if they are few. Ends the process if there
/// is no memory.
template <typename T>
class Scratch {
 public:
  explicit Scratch(long count) {
    if (count <= kFew) return;
    all_ = static_cast<T*>(std::malloc(static_cast<unsigned long>(count) * sizeof(T)));
    if (all_ == nullptr) {
      std::fprintf(stderr, "libmpifort_abi: no memory for %ld objects of %zu bytes\n", count, sizeof(T));
      std::abort();
    }
  }
  ~Scratch() {
    if (all_ != few_) std::free(all_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() { return all_; }
  T& operator[](long at) { return all_[at]; }

 private:
  static constexpr long kFew = 16 * 8 / static_cast<long>(sizeof(T)) > 0
                                   ? 16 * 8 / static_cast<long>(sizeof(T))
                                   : 1;
  T few_[kFew];
  T* all_ = few_;
};

}  // namespace clump::fortran
