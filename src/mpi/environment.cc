// Versions, clocks, memory and error codes (MPI-5.0 chapter 9), and what tells where a rank is between its
// start and end (chapter 11).
#include <pthread.h>
#include <sys/utsname.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "mpi/bodies.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;

/// Writes `text` into a buffer of the user for `size` characters with the final zero, and its length.
void copy_out(const std::string& text, std::size_t size, char* out, int* length) {
  const std::size_t used = std::min(text.size(), size - 1);
  std::memcpy(out, text.data(), used);
  out[used] = '\0';
  *length = static_cast<int>(used);
}

/// Whether `code` is a predefined error class, or a code that this library has made from one.
bool is_ours(int code) { return code >= 0 && !core::ErrorCodes::is_users(code); }

/// The text of a predefined class.
std::string text_of_class(int error_class) {
  if (const char* meaning = base::meaning_of_class(error_class))
    return fmt::format("{}: {}", base::name_of_class(error_class), meaning);
  return fmt::format("error class {}, which nobody has defined", error_class);
}

/// The alignment that the user's info asks for (MPI-5.0 section 9.2), or what any type is content with.
Status alignment_of(const core::Info* info, std::size_t& alignment) {
  constexpr std::size_t kCacheLine = 64;
  alignment = kCacheLine;
  const auto wish = info != nullptr ? info->get("mpi_minimum_memory_alignment") : std::nullopt;
  if (!wish) return {};
  char* end = nullptr;
  const unsigned long long value = std::strtoull(wish->c_str(), &end, 10);
  if (wish->empty() || *end != '\0' || !std::has_single_bit(value))
    return base::fail(MPI_ERR_INFO_VALUE,
                      "mpi_minimum_memory_alignment = \"{}\": this has to be a power of two", *wish);
  alignment = std::max<std::size_t>(kCacheLine, value);
  return {};
}

/// Some questions make sense of MPI_Init only, not of a session.
Status check_world_model(const Rank& self) {
  if (self.phase.load(std::memory_order_relaxed) == Rank::Phase::kInitialized) return {};
  const bool has_session = self.users.load(std::memory_order_relaxed) > 0;
  return base::fail(MPI_ERR_OTHER, "{}",
                    has_session ? "this call is about MPI_Init, and this rank has only sessions; "
                                  "MPI_Session_get_info tells a session's thread_level"
                                : "MPI is not initialised, or not any more: call MPI_Init before, and "
                                  "MPI_Finalize afterwards");
}

}  // namespace

Status get_version(Rank*, int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return {};
}

Status get_library_version(Rank*, char* version, int* resultlen) {
  const std::string text = fmt::format("Clump {}, MPI {}.{}, standard ABI {}.{}", CLUMP_VERSION, MPI_VERSION,
                                       MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  copy_out(text, MPI_MAX_LIBRARY_VERSION_STRING, version, resultlen);
  return {};
}

Status get_processor_name(Rank*, char* name, int* resultlen) {
  utsname node{};
  if (uname(&node) != 0)
    return base::fail(MPI_ERR_OTHER, "the system does not tell this node's name: {}", std::strerror(errno));
  copy_out(node.nodename, MPI_MAX_PROCESSOR_NAME, name, resultlen);
  return {};
}

/// The names are what MPI_Comm_split_type takes as mpi_hw_resource_type.
Status get_hw_resource_info(Rank& self, MPI_Info* hw_info) {
  auto info = std::make_unique<core::Info>();
  for (const core::World::Resource& resource : self.world.resources)
    info->set(resource.name,
              resource.instances[static_cast<std::size_t>(self.number)] >= 0 ? "true" : "false");
  *hw_info = self.add(std::move(info));
  return {};
}

double wtime() {
  if (fiber::exploration::is_on)
    return std::chrono::duration<double>(fiber::now().time_since_epoch()).count();
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wtick() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC, &tick);
  return static_cast<double>(tick.tv_sec) + 1e-9 * static_cast<double>(tick.tv_nsec);
}

Status initialized(Rank* self, int* flag) {
  *flag = self != nullptr && self->phase.load(std::memory_order_relaxed) != Rank::Phase::kBefore;
  return {};
}

Status finalized(Rank* self, int* flag) {
  *flag = self != nullptr && self->phase.load(std::memory_order_relaxed) == Rank::Phase::kFinalized;
  return {};
}

Status query_thread(Rank& self, int* provided) {
  CLUMP_TRY(check_world_model(self));
  *provided = self.thread_level;
  return {};
}

Status is_thread_main(Rank& self, int* flag) {
  CLUMP_TRY(check_world_model(self));
  *flag = self.main_thread == pthread_self();
  return {};
}

Status alloc_mem(Rank&, MPI_Aint size, core::Info* info, void* baseptr) {
  std::size_t alignment = 0;
  CLUMP_TRY(alignment_of(info, alignment));
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, std::max<std::size_t>(1, static_cast<std::size_t>(size))) != 0)
    return base::fail(MPI_ERR_NO_MEM, "(size = {}): the system has no such amount of memory, aligned to {}",
                      size, alignment);
  std::memcpy(baseptr, &memory, sizeof memory);  // baseptr is the address of a pointer of any type
  return {};
}

Status free_mem(Rank&, void* base) {
  std::free(base);
  return {};
}

Status add_error_class(Rank& self, int* errorclass) {
  *errorclass = self.error_codes.add_class();
  return {};
}

Status add_error_code(Rank& self, int errorclass, int* errorcode) {
  return self.error_codes.add_code(errorclass, errorcode);
}

Status add_error_string(Rank& self, int errorcode, const char* string) {
  if (std::strlen(string) >= MPI_MAX_ERROR_STRING)
    return base::fail(MPI_ERR_ARG,
                      "(string): it has {} characters; at most {} are allowed (MPI_MAX_ERROR_STRING - 1)",
                      std::strlen(string), MPI_MAX_ERROR_STRING - 1);
  return self.error_codes.set_text(errorcode, string);
}

Status remove_error_class(Rank& self, int errorclass) { return self.error_codes.remove_class(errorclass); }
Status remove_error_code(Rank& self, int errorcode) { return self.error_codes.remove_code(errorcode); }
Status remove_error_string(Rank& self, int errorcode) { return self.error_codes.remove_text(errorcode); }

Status error_class(Rank& self, int errorcode, int* errorclass) {
  if (is_ours(errorcode)) {
    *errorclass = Status::from_code(errorcode).error_class();
    return {};
  }
  const std::optional<int> found = self.error_codes.class_of(errorcode);
  if (!found) return base::fail(MPI_ERR_ARG, "(errorcode = {}): this is no error code", errorcode);
  *errorclass = *found;
  return {};
}

Status error_string(Rank& self, int errorcode, char* string, int* resultlen) {
  std::string text;
  if (is_ours(errorcode)) {
    text = self.error_codes.text_of(errorcode);
    if (text.empty()) text = text_of_class(Status::from_code(errorcode).error_class());
  } else if (self.error_codes.class_of(errorcode)) {
    text = self.error_codes.text_of(errorcode);
  } else {
    return base::fail(MPI_ERR_ARG, "(errorcode = {}): this is no error code", errorcode);
  }
  copy_out(text, MPI_MAX_ERROR_STRING, string, resultlen);
  return {};
}

}  // namespace clump::mpi
