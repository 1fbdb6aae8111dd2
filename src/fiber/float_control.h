// How a thread computes with floating-point numbers: rounding, the precision of x87, what becomes of
// denormals. And the exceptions that its computation has met (overflow, division by zero, ...).
//
// Each thread of control has its own (fesetround(), feclearexcept()). A thread that computes for another one
// does so as that one would, and leaves the exceptions that it has met to it:
//
//   owner: FloatControl::here() --> helper: ComputeAs(control), part of the work, met() --> owner: meet(met)
//
// Where both compute in the same way this costs a look at two registers. To clear exceptions in MXCSR takes
// as long as some hundred instructions, so a thread that has met FE_INEXACT before, as most have, keeps it,
// and does not tell that it has met it again.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

namespace detail {

#if defined(__x86_64__)

/// Rounding (bits 13 and 14), flush to zero (15) and denormals are zeros (6), of MXCSR; in the upper half
/// rounding and precision (bits 8 to 11) of the x87 control word.
inline constexpr std::uint32_t kFloatControl = 0x0f00'e040;
inline constexpr std::uint32_t kFloatExceptions = 0x3f;  // of MXCSR and of the x87 status word alike
inline constexpr std::uint32_t kInexact = 0x20;
inline constexpr std::uint32_t kUsualFloatControl = 0x0300'0000;
inline constexpr std::uint32_t kMaskedMxcsr = 0x1f80;
inline constexpr std::uint32_t kMaskedControlWord = 0x7f;

// The clobbers keep them in order with the memory accesses of a computation.
inline std::uint32_t read_mxcsr() noexcept {
  std::uint32_t value;
  asm volatile("stmxcsr %0" : "=m"(value)::"memory");
  return value;
}
inline void write_mxcsr(std::uint32_t value) noexcept { asm volatile("ldmxcsr %0" ::"m"(value) : "memory"); }
inline std::uint16_t read_control_word() noexcept {
  std::uint16_t value;
  asm volatile("fnstcw %0" : "=m"(value)::"memory");
  return value;
}
inline void write_control_word(std::uint16_t value) noexcept {
  asm volatile("fldcw %0" ::"m"(value) : "memory");
}
inline std::uint32_t read_x87_exceptions() noexcept {
  std::uint16_t value;
  asm volatile("fnstsw %0" : "=a"(value)::"memory");
  return value & kFloatExceptions;
}

inline void clear_x87_exceptions() noexcept { asm volatile("fnclex" ::: "memory"); }

#elif defined(__aarch64__)

/// All of FPCR but the bits that enable traps (8 to 12, and 15).
inline constexpr std::uint32_t kFloatControl = ~std::uint32_t{0x9f00};
inline constexpr std::uint32_t kFloatExceptions = 0x9f;  // of FPSR
inline constexpr std::uint32_t kInexact = 0x10;
inline constexpr std::uint32_t kUsualFloatControl = 0;

inline std::uint64_t read_fpcr() noexcept {
  std::uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value)::"memory");
  return value;
}
inline void write_fpcr(std::uint64_t value) noexcept { asm volatile("msr fpcr, %0" ::"r"(value) : "memory"); }
inline std::uint64_t read_fpsr() noexcept {
  std::uint64_t value;
  asm volatile("mrs %0, fpsr" : "=r"(value)::"memory");
  return value;
}
inline void write_fpsr(std::uint64_t value) noexcept { asm volatile("msr fpsr, %0" ::"r"(value) : "memory"); }

#endif

/// Has the calling thread meet exceptions for which it has asked for a trap.
CLUMP_HOST_API void trap_float_exceptions(std::uint32_t exceptions) noexcept;

}  // namespace detail

/// How a thread computes. Its traps are no part of it: a thread that computes for another one has none.
class FloatControl {
 public:
  /// As a process begins.
  constexpr FloatControl() = default;
  /// The calling thread's.
  static FloatControl here() noexcept {
#if defined(__x86_64__)
    return FloatControl((detail::read_mxcsr() | std::uint32_t{detail::read_control_word()} << 16) &
                        detail::kFloatControl);
#else
    return FloatControl(static_cast<std::uint32_t>(detail::read_fpcr()) & detail::kFloatControl);
#endif
  }
  /// For work without floating-point numbers: ComputeAs does nothing.
  static constexpr FloatControl none() noexcept { return FloatControl(kNone); }

  /// The calling thread computes so from now on.
  void use() const noexcept {
#if defined(__x86_64__)
    detail::write_mxcsr((detail::read_mxcsr() & ~detail::kFloatControl) | (bits_ & 0xffff));
    detail::write_control_word(static_cast<std::uint16_t>(
        (detail::read_control_word() & ~(detail::kFloatControl >> 16)) | bits_ >> 16));
#else
    detail::write_fpcr((detail::read_fpcr() & ~std::uint64_t{detail::kFloatControl}) | bits_);
#endif
  }

  bool is_none() const noexcept { return bits_ == kNone; }
  std::uint32_t bits() const noexcept { return bits_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  constexpr explicit FloatControl(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = detail::kUsualFloatControl;
};

/// While one lives, the calling thread computes as another one, without traps. Then it is as it was, with
/// the exceptions that it had met before.
class ComputeAs {
 public:
  explicit ComputeAs(FloatControl control) noexcept : control_(control) {
    if (!control.is_none()) begin();
  }
  ~ComputeAs() {
    if (!control_.is_none()) end();
  }
  ComputeAs(const ComputeAs&) = delete;
  ComputeAs& operator=(const ComputeAs&) = delete;

  /// The exceptions that the calling thread has met in the meantime, for meet().
  std::uint32_t met() const noexcept {
    if (control_.is_none()) return 0;
#if defined(__x86_64__)
    return ((detail::read_mxcsr() & ~kept_) | (detail::read_x87_exceptions() & ~kept_x87_)) &
           detail::kFloatExceptions;
#else
    return static_cast<std::uint32_t>(detail::read_fpsr()) & ~kept_ & detail::kFloatExceptions;
#endif
  }

 private:
  /// The part of the exceptions that a thread has met which stays where it is.
  static std::uint32_t kept_of(std::uint32_t exceptions) {
    return (exceptions & ~detail::kInexact) == 0 ? exceptions : 0;
  }

#if defined(__x86_64__)
  void begin() noexcept {
    mxcsr_ = detail::read_mxcsr();
    control_word_ = detail::read_control_word();
    kept_ = kept_of(mxcsr_ & detail::kFloatExceptions);
    if (const std::uint32_t wanted = wanted_mxcsr() | kept_; mxcsr_ != wanted) detail::write_mxcsr(wanted);
    const std::uint32_t before = detail::read_x87_exceptions();
    kept_x87_ = kept_of(before);
    has_environment_ = before != kept_x87_;
    // Its exceptions can be put back only with a whole environment.
    if (has_environment_) [[unlikely]] {
      asm volatile("fnstenv %0\n\tfnclex" : "=m"(environment_)::"memory");
    }
    if (control_word_ != wanted_control_word() || has_environment_)
      detail::write_control_word(wanted_control_word());
  }
  void end() noexcept {
    if (detail::read_mxcsr() != mxcsr_) detail::write_mxcsr(mxcsr_);
    const std::uint32_t now = detail::read_x87_exceptions();
    if (has_environment_) [[unlikely]] {
      asm volatile("fldenv %0" ::"m"(environment_) : "memory");
      return;
    }
    if (now != kept_x87_) [[unlikely]]
      put_back_x87(kept_x87_);
    if (control_word_ != wanted_control_word()) detail::write_control_word(control_word_);
  }
  /// Makes these the exceptions of the x87 unit.
  static void put_back_x87(std::uint32_t exceptions) noexcept {
    detail::clear_x87_exceptions();
    if (exceptions == 0) return;
    Environment now;
    asm volatile("fnstenv %0" : "=m"(now)::"memory");
    now.words[1] |= exceptions;  // the status word
    asm volatile("fldenv %0" ::"m"(now) : "memory");
  }
  std::uint32_t wanted_mxcsr() const noexcept {
    return detail::kMaskedMxcsr | (control_.bits() & detail::kFloatControl & 0xffff);
  }
  std::uint16_t wanted_control_word() const noexcept {
    return static_cast<std::uint16_t>(detail::kMaskedControlWord |
                                      (control_.bits() & detail::kFloatControl) >> 16);
  }

  struct Environment {
    std::uint32_t words[7];
  };
  std::uint32_t mxcsr_;
  std::uint32_t kept_, kept_x87_;
  std::uint16_t control_word_;
  bool has_environment_;
  Environment environment_;
#else
  void begin() noexcept {
    fpcr_ = detail::read_fpcr();
    fpsr_ = detail::read_fpsr();
    if (fpcr_ != control_.bits()) detail::write_fpcr(control_.bits());
    const std::uint32_t before = static_cast<std::uint32_t>(fpsr_) & detail::kFloatExceptions;
    kept_ = kept_of(before);
    if (before != kept_) detail::write_fpsr(fpsr_ & ~std::uint64_t{detail::kFloatExceptions});
  }
  void end() noexcept {
    if (fpcr_ != control_.bits()) detail::write_fpcr(fpcr_);
    if (detail::read_fpsr() != fpsr_) detail::write_fpsr(fpsr_);
  }
  std::uint64_t fpcr_;
  std::uint64_t fpsr_;
  std::uint32_t kept_;
#endif
  const FloatControl control_;
};

/// The calling thread meets exceptions that another one has met for it: fetestexcept() reports them, and
/// there is a trap if the thread has asked for one (feenableexcept()).
inline void meet(std::uint32_t exceptions) noexcept {
#if defined(__x86_64__)
  const std::uint32_t mxcsr = detail::read_mxcsr();
  if ((exceptions & ~mxcsr) != 0) detail::write_mxcsr(mxcsr | exceptions);
  if (const std::uint32_t trapped = exceptions & ~(mxcsr >> 7) & detail::kFloatExceptions; trapped != 0)
      [[unlikely]]
    detail::trap_float_exceptions(trapped);
#else
  const std::uint64_t fpsr = detail::read_fpsr();
  if ((exceptions & ~fpsr) != 0) detail::write_fpsr(fpsr | exceptions);
#endif
}

}  // namespace clump::fiber
