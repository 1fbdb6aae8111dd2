// What differs between machines: ELF machine numbers, relocation types, where a program's thread-local
// variables lie, how a program begins. Everything else in this layer is the same for all.
#pragma once

#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace clump::image::arch {

/// The result of a dynamic relocation in memory.
enum class Effect : std::uint8_t {
  kAddress,  ///< one word that holds an address
  kCopy,     ///< the bytes of a variable, copied from the library that defines it
  kOther,    ///< nothing that depends on where an object is mapped (TLS offsets and modules)
};

/// The bytes of a program's thread-local variables.
inline std::size_t tls_bytes(const ElfW(Phdr) & segment) {
  const std::size_t alignment = segment.p_align > 1 ? segment.p_align : 1;
  return (segment.p_memsz + alignment - 1) / alignment * alignment;
}

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

inline constexpr std::uint32_t kTlsModule = R_X86_64_DTPMOD64;
inline constexpr std::uint32_t kTlsOffset = R_X86_64_DTPOFF64;

/// The calling thread's thread-local variables of the program: they end at the thread pointer.
inline std::byte* program_tls(const ElfW(Phdr) & segment) {
  std::byte* thread = nullptr;
  asm("mov %%fs:0, %0" : "=r"(thread));
  return thread - tls_bytes(segment);
}

/// The stack pointer that setjmp() has saved. The C library hides it by a word of the thread.
inline std::uintptr_t stack_pointer_of(const __jmp_buf& saved) {
  auto pointer = static_cast<std::uintptr_t>(saved[6]);
  asm("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(pointer));
  return pointer;
}

/// The stack pointer of the code that a signal has interrupted.
inline std::uintptr_t stack_pointer_of(const ucontext_t& interrupted) {
  return static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RSP]);
}

/// Starts a program at its entry point, with the stack that the kernel gives a new process.
[[noreturn]] inline void start_program(std::uintptr_t entry, const std::uintptr_t* stack) {
  asm volatile(
      "mov %1, %%rsp\n\t"
      "xor %%edx, %%edx\n\t"  // ld.so's exit handler: none
      "xor %%ebp, %%ebp\n\t"
      "jmp *%0"
      :
      : "a"(entry), "c"(stack)
      : "memory");
  __builtin_unreachable();
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

inline constexpr std::uint32_t kTlsModule = R_AARCH64_TLS_DTPMOD;
inline constexpr std::uint32_t kTlsOffset = R_AARCH64_TLS_DTPREL;

/// The calling thread's thread-local variables of the program: they begin after the two words at the thread
/// pointer.
inline std::byte* program_tls(const ElfW(Phdr) & segment) {
  const std::size_t reserved = 2 * sizeof(void*);
  return static_cast<std::byte*>(__builtin_thread_pointer()) +
         (reserved > segment.p_align ? reserved : segment.p_align);
}

/// The stack pointer that setjmp() has saved. The C library hides it by a word, which one that is known
/// shows.
[[gnu::noinline]] inline std::uintptr_t stack_pointer_of(const __jmp_buf& saved) {
  jmp_buf here;
  std::uintptr_t known = 0;
  (void)_setjmp(here);
  asm volatile("mov %0, sp" : "=r"(known));
  return static_cast<std::uintptr_t>(saved[13] ^ here[0].__jmpbuf[13]) ^ known;
}

/// The stack pointer of the code that a signal has interrupted.
inline std::uintptr_t stack_pointer_of(const ucontext_t& interrupted) {
  return static_cast<std::uintptr_t>(interrupted.uc_mcontext.sp);
}

/// Starts a program at its entry point, with the stack that the kernel gives a new process.
[[noreturn]] inline void start_program(std::uintptr_t entry, const std::uintptr_t* stack) {
  register std::uintptr_t target asm("x16") = entry;
  asm volatile(
      "mov sp, %1\n\t"
      "mov x0, #0\n\t"  // ld.so's exit handler: none
      "mov x29, #0\n\t"
      "mov x30, #0\n\t"
      "br %0"
      :
      : "r"(target), "r"(stack)
      : "memory", "x0");
  __builtin_unreachable();
}
#else
#error "Images know x86-64 and aarch64 only"
#endif

}  // namespace clump::image::arch
