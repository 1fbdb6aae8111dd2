// Functions of the program where the standard's function has no argument for its own state: each has one of a
// fixed number of functions, which knows it.
#pragma once

namespace clump::facade {

/// The program's functions of one type, and for each the function of the standard's ABI that calls it.
template <typename Function, typename Standard, int kSize>
class Pool {
 public:
  constexpr explicit Pool(const Standard (&standard)[kSize]) : standard_(standard) {}
  Standard standard_of(Function function) {
    lock();
    int at = 0;
    while (at < kSize && functions_[at] != nullptr && functions_[at] != function) ++at;
    if (at < kSize) functions_[at] = function;
    unlock();
    return at < kSize ? standard_[at] : nullptr;
  }
  Function operator[](int at) const { return functions_[at]; }

 private:
  void lock() {
    while (__atomic_test_and_set(&is_locked_, __ATOMIC_ACQUIRE)) {  // acquire: pairs with unlock()
    }
  }
  void unlock() { __atomic_clear(&is_locked_, __ATOMIC_RELEASE); }  // release: pairs with lock()

  const Standard (&standard_)[kSize];
  Function functions_[kSize] = {};
  bool is_locked_ = false;
};

template <typename Function, typename Standard, int kSize>
struct Functions {
  Standard all[kSize];
};

}  // namespace clump::facade
