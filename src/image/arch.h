// What differs between machines: ELF machine numbers and relocation types. Everything else in this layer is the same for all.
#pragma once

#include <elf.h>

#include <cstdint>

namespace clump::image::arch {

/// What a dynamic relocation leaves in memory.
enum class Effect : std::uint8_t {
  kAddress,  ///< one word that holds an address
  kCopy,     ///< the bytes of a variable, copied from the library that defines it
  kOther,    ///< nothing that depends on where an object lies (TLS offsets and modules)
};

#if defined(__x86_64__)
inline constexpr std::uint16_t kMachine = EM_X86_64;
inline constexpr const char* kTriplet = "x86_64-linux-gnu";
inline constexpr const char* kLibDirectory = "/lib64";
inline constexpr unsigned kCacheFlags = 0x0303;  // ld.so.cache: x86-64, ELF with libc 6

constexpr Effect effect_of(std::uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_RELATIVE:
    case R_X86_64_IRELATIVE:
      return Effect::kAddress;
    case R_X86_64_COPY:
      return Effect::kCopy;
    default:
      return Effect::kOther;
  }
}
#elif defined(__aarch64__)
inline constexpr std::uint16_t kMachine = EM_AARCH64;
inline constexpr const char* kTriplet = "aarch64-linux-gnu";
inline constexpr const char* kLibDirectory = "/lib64";
inline constexpr unsigned kCacheFlags = 0x0a03;  // ld.so.cache: aarch64, ELF with libc 6

constexpr Effect effect_of(std::uint32_t type) {
  switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_GLOB_DAT:
    case R_AARCH64_JUMP_SLOT:
    case R_AARCH64_RELATIVE:
    case R_AARCH64_IRELATIVE:
      return Effect::kAddress;
    case R_AARCH64_COPY:
      return Effect::kCopy;
    default:
      return Effect::kOther;
  }
}
#else
#error "Images know x86-64 and aarch64 only"
#endif

}  // namespace clump::image::arch
