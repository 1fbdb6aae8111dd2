// What programs rely on that were written for the C library's malloc(): errno where there is no memory (the
// GNU coding standards' xmalloc), realloc(p, 0) frees, a request larger than the machine's memory is refused
// (codes that try sizes until one fits), operator new throws std::bad_alloc and asks the new handler of its
// own rank, every block is aligned as asked, free() keeps errno. Right in every mode.
#include <malloc.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void __libc_free(void*);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

int failures = 0, rank = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  ++failures;
}

/// Not known to the compiler, which would drop the calls.
volatile std::size_t huge = SIZE_MAX / 2, larger_than_memory = std::size_t{1} << 46;

template <typename Call>
void expect_refused(const char* what, Call call) {
  errno = 0;
  expect(call() == nullptr && errno == ENOMEM, what);
}

void refusals() {
  static void* volatile block = std::malloc(8);  // the compiler takes a refused realloc() for one that frees
  expect_refused("malloc(SIZE_MAX / 2)", [] { return std::malloc(huge); });
  expect_refused("malloc(SIZE_MAX)", [] { return std::malloc(2 * huge + 1); });
  expect_refused("malloc(64 TiB)", [] { return std::malloc(larger_than_memory); });
  expect_refused("calloc(64 TiB)", [] { return std::calloc(larger_than_memory, 1); });
  expect_refused("calloc() of a product that overflows", [] { return std::calloc(huge, 8); });
  expect_refused("realloc()", [] { return std::realloc(block, huge); });
  expect_refused("reallocarray()", [] { return reallocarray(block, huge, 8); });
  expect_refused("aligned_alloc()", [] { return std::aligned_alloc(64, huge); });
  expect_refused("memalign()", [] { return memalign(4096, huge); });
  void* place = &place;
  expect(posix_memalign(&place, 64, huge) == ENOMEM && place == &place, "posix_memalign() without memory");
  expect(posix_memalign(&place, 24, 8) == EINVAL && place == &place, "posix_memalign() of no power of two");
  std::free(block);
}

/// Memory trackers call the C library's functions by these names, and give what they got to free().
void other_names() {
  void* (*const give)(std::size_t) = __libc_malloc;
  for (std::size_t bytes = 1; bytes < std::size_t{64} << 20; bytes *= 3) {
    char* const block = static_cast<char*>(give(bytes));
    block[bytes - 1] = 1;
    std::free(block);
    __libc_free(std::malloc(bytes));
    std::free(__libc_calloc(bytes, 1));
    std::free(__libc_memalign(64, bytes));
  }
}

void small_print() {
  void* const nothing = std::malloc(0);
  expect(nothing != nullptr, "malloc(0) gives a block");
  std::free(nothing);
  std::free(nullptr);
  expect(std::realloc(std::malloc(5), huge - huge) == nullptr, "realloc(p, 0) frees");
  errno = EXDEV;
  std::free(std::malloc(std::size_t{64} << 20));
  expect(errno == EXDEV, "free() keeps errno");
  for (std::size_t alignment = 16; alignment <= (1 << 22); alignment *= 2) {
    char* const block = static_cast<char*>(std::aligned_alloc(alignment, 100));
    expect(block != nullptr && reinterpret_cast<std::uintptr_t>(block) % alignment == 0,
           "aligned_alloc() aligns");
    std::memset(block, 1, 100);
    std::free(block);
  }
  for (std::size_t bytes = 16; bytes < 1 << 20; bytes = bytes * 3 / 2) {
    char* const block = static_cast<char*>(std::malloc(bytes));
    expect(reinterpret_cast<std::uintptr_t>(block) % 16 == 0,
           "blocks of 16 bytes and more are aligned to 16");
    expect(malloc_usable_size(block) >= bytes, "malloc_usable_size()");
    std::memset(block, 0x5a, malloc_usable_size(block));
    char* const more = static_cast<char*>(std::realloc(block, bytes * 2));
    expect(more[0] == 0x5a && more[bytes - 1] == 0x5a, "realloc() keeps what is there");
    std::free(more);
  }
}

int handled = 0;
void handle() {
  if (++handled == 2) std::set_new_handler(nullptr);
}

void operator_new() {
  bool thrown = false;
  std::set_new_handler(rank % 2 == 0 ? handle : nullptr);
  try {
    static_cast<char*>(::operator new(larger_than_memory))[0] = 1;
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  expect(thrown, "operator new throws std::bad_alloc");
  expect(handled == (rank % 2 == 0 ? 2 : 0), "the rank's own new handler is asked");
  expect(::operator new(larger_than_memory, std::nothrow) == nullptr, "operator new(nothrow) gives null");
}

/// A child of a rank goes on with what it has.
void child() {
  char* const before = strdup("made before");
  const pid_t process = fork();
  if (process == 0) {
    bool good = std::strcmp(before, "made before") == 0;
    std::free(before);
    for (std::size_t i = 1; i < 2000; ++i) {
      char* const block = static_cast<char*>(std::calloc(i, 7));
      good = good && block != nullptr && block[i * 7 - 1] == 0;
      std::free(block);
    }
    _exit(good ? 3 : 4);
  }
  int status = 0;
  expect(
      process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 3,
      "a child allocates");
  std::free(before);
}

/// Programs that a rank starts have the allocator that they bring themselves.
void started_program() {
  std::FILE* const list = popen("cat /proc/self/maps; echo \"[$LD_PRELOAD]\"", "r");
  char line[4096];
  bool clean = list != nullptr, said = false;
  while (list != nullptr && std::fgets(line, sizeof line, list) != nullptr) {
    if (std::strstr(line, "clump_") != nullptr) clean = false;
    if (std::strcmp(line, "[]\n") == 0) said = true;
  }
  if (list != nullptr) pclose(list);
  expect(clean && said, "a program that a rank starts has nothing of Clump's in it");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  refusals();
  small_print();
  other_names();
  operator_new();
  child();
  started_program();
  MPI_Finalize();
  return failures != 0;
}
