#include "base/status.h"

#include <array>

#include "base/printable.h"

namespace clump::base {

namespace {

// A code carries the 16 bits of its text's number in the bits above the class: the highest one says whose
// text it is, and the text is still there if the slot holds that number. Number 0 marks a bare class, so it
// is never given out.
constexpr std::uint32_t kNumberMask = 0x7fff, kOfRank = 0x8000;

// The process has so many slots because ranks may fail thousands of times before one that has lost its core
// asks for the text of its own failure. Never destroyed: ranks report errors until the process ends.
FailureTexts& texts_of_process() {
  static auto& texts = *new FailureTexts(FailureTexts::Of::kProcess, 16 * 1024);
  return texts;
}

struct ClassInfo {
  const char* name;
  const char* meaning;
};

// Indexed by class, MPI_SUCCESS to MPI_ERR_ABI (MPI-5.0 section 9.4).
constexpr auto kClasses = std::to_array<ClassInfo>({
    {"MPI_SUCCESS", "no error"},
    {"MPI_ERR_BUFFER", "invalid buffer pointer"},
    {"MPI_ERR_COUNT", "invalid count"},
    {"MPI_ERR_TYPE", "invalid datatype"},
    {"MPI_ERR_TAG", "invalid tag"},
    {"MPI_ERR_COMM", "invalid communicator"},
    {"MPI_ERR_RANK", "invalid rank"},
    {"MPI_ERR_REQUEST", "invalid request"},
    {"MPI_ERR_ROOT", "invalid root"},
    {"MPI_ERR_GROUP", "invalid group"},
    {"MPI_ERR_OP", "invalid reduction operation"},
    {"MPI_ERR_TOPOLOGY", "invalid topology"},
    {"MPI_ERR_DIMS", "invalid dimensions"},
    {"MPI_ERR_ARG", "invalid argument"},
    {"MPI_ERR_UNKNOWN", "unknown error"},
    {"MPI_ERR_TRUNCATE", "the message is longer than the receive buffer"},
    {"MPI_ERR_OTHER", "an error without a class of its own"},
    {"MPI_ERR_INTERN", "internal error of the MPI library"},
    {"MPI_ERR_PENDING", "the request is neither complete nor failed"},
    {"MPI_ERR_IN_STATUS", "the error code is in the status"},
    {"MPI_ERR_ACCESS", "permission denied"},
    {"MPI_ERR_AMODE", "invalid file access mode"},
    {"MPI_ERR_ASSERT", "invalid assertion"},
    {"MPI_ERR_BAD_FILE", "invalid file name"},
    {"MPI_ERR_BASE", "invalid base pointer"},
    {"MPI_ERR_CONVERSION", "a data conversion function failed"},
    {"MPI_ERR_DISP", "invalid displacement"},
    {"MPI_ERR_DUP_DATAREP", "the data representation is defined already"},
    {"MPI_ERR_FILE_EXISTS", "the file exists already"},
    {"MPI_ERR_FILE_IN_USE", "the file is in use"},
    {"MPI_ERR_FILE", "invalid file handle"},
    {"MPI_ERR_INFO_KEY", "invalid info key"},
    {"MPI_ERR_INFO_NOKEY", "no such info key"},
    {"MPI_ERR_INFO_VALUE", "invalid info value"},
    {"MPI_ERR_INFO", "invalid info object"},
    {"MPI_ERR_IO", "input or output failed"},
    {"MPI_ERR_KEYVAL", "invalid attribute key"},
    {"MPI_ERR_LOCKTYPE", "invalid lock type"},
    {"MPI_ERR_NAME", "the service name is not published"},
    {"MPI_ERR_NO_MEM", "out of memory"},
    {"MPI_ERR_NOT_SAME", "a collective argument differs between the ranks"},
    {"MPI_ERR_NO_SPACE", "not enough space"},
    {"MPI_ERR_NO_SUCH_FILE", "no such file"},
    {"MPI_ERR_PORT", "invalid port name"},
    {"MPI_ERR_QUOTA", "quota exceeded"},
    {"MPI_ERR_READ_ONLY", "read-only file or file system"},
    {"MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"},
    {"MPI_ERR_RMA_CONFLICT", "conflicting accesses to the window"},
    {"MPI_ERR_RMA_RANGE", "the target memory is not part of the window"},
    {"MPI_ERR_RMA_SHARED", "the memory cannot be shared"},
    {"MPI_ERR_RMA_SYNC", "wrong synchronisation of RMA calls"},
    {"MPI_ERR_SERVICE", "invalid service name"},
    {"MPI_ERR_SIZE", "invalid size"},
    {"MPI_ERR_SPAWN", "processes cannot be spawned"},
    {"MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation"},
    {"MPI_ERR_UNSUPPORTED_OPERATION", "unsupported operation"},
    {"MPI_ERR_WIN", "invalid window"},
    {"MPI_ERR_RMA_FLAVOR", "wrong flavor of window"},
    {"MPI_ERR_PROC_ABORTED", "a peer process has aborted"},
    {"MPI_ERR_VALUE_TOO_LARGE", "the value does not fit into the argument"},
    {"MPI_ERR_SESSION", "invalid session"},
    {"MPI_ERR_ERRHANDLER", "invalid error handler"},
    {"MPI_ERR_ABI", "wrong use of the ABI"},
});
static_assert(kClasses.size() == MPI_ERR_ABI + 1);

// MPI_T_ERR_CANNOT_INIT and those that follow (MPI-5.0 section 15.3.10).
constexpr auto kToolClasses = std::to_array<ClassInfo>({
    {"MPI_T_ERR_CANNOT_INIT", "the tool information interface cannot be initialised now"},
    {"MPI_T_ERR_NOT_ACCESSIBLE", "what was asked for is not accessible"},
    {"MPI_T_ERR_NOT_INITIALIZED", "the tool information interface is not initialised"},
    {"MPI_T_ERR_NOT_SUPPORTED", "what was asked for is not supported"},
    {"MPI_T_ERR_MEMORY", "out of memory"},
    {"MPI_T_ERR_INVALID", "invalid argument of the tool information interface"},
    {"MPI_T_ERR_INVALID_INDEX", "there is no such index"},
    {"MPI_T_ERR_INVALID_ITEM", "the enumeration has no such item"},
    {"MPI_T_ERR_INVALID_SESSION", "invalid performance variable session"},
    {"MPI_T_ERR_INVALID_HANDLE", "invalid handle of the tool information interface"},
    {"MPI_T_ERR_INVALID_NAME", "there is no such name"},
    {"MPI_T_ERR_OUT_OF_HANDLES", "there are no more handles"},
    {"MPI_T_ERR_OUT_OF_SESSIONS", "there are no more sessions"},
    {"MPI_T_ERR_CVAR_SET_NOT_NOW", "the control variable cannot be set now"},
    {"MPI_T_ERR_CVAR_SET_NEVER", "the control variable cannot be set"},
    {"MPI_T_ERR_PVAR_NO_WRITE", "the performance variable cannot be written or reset"},
    {"MPI_T_ERR_PVAR_NO_STARTSTOP", "the performance variable cannot be started and stopped"},
    {"MPI_T_ERR_PVAR_NO_ATOMIC", "the performance variable cannot be read and reset at once"},
});
static_assert(kToolClasses.size() == MPI_T_ERR_PVAR_NO_ATOMIC - MPI_T_ERR_CANNOT_INIT + 1);

/// Null for what is no predefined class.
const ClassInfo* find_class(int error_class) {
  if (error_class >= 0 && error_class < static_cast<int>(kClasses.size())) return &kClasses[error_class];
  const int tool = error_class - MPI_T_ERR_CANNOT_INIT;
  return tool >= 0 && tool < static_cast<int>(kToolClasses.size()) ? &kToolClasses[tool] : nullptr;
}

}  // namespace

Status FailureTexts::keep(int error_class, std::string text) {
  text = printable(std::move(text));
  const std::lock_guard lock(mutex_);
  last_number_ = (last_number_ + 1) & kNumberMask;
  if (last_number_ == 0) last_number_ = 1;
  const std::size_t at = last_number_ % most_;
  if (at >= slots_.size()) slots_.resize(at + 1);
  slots_[at] = {last_number_, std::move(text)};
  const std::uint32_t number = last_number_ | (of_ == Of::kRank ? kOfRank : 0);
  return Status::from_code(static_cast<int>(number << Status::kClassBits) |
                           (error_class & Status::kClassMask));
}

std::string FailureTexts::find(int code) const {
  const std::uint32_t bits = static_cast<std::uint32_t>(code) >> Status::kClassBits;
  const std::uint32_t number = bits & kNumberMask;
  const bool is_of_rank = (bits & kOfRank) != 0;
  if (number == 0 || bits > (kNumberMask | kOfRank) || is_of_rank != (of_ == Of::kRank)) return {};
  const std::lock_guard lock(mutex_);
  const std::size_t at = number % most_;
  return at < slots_.size() && slots_[at].number == number ? slots_[at].text : std::string();
}

Status fail_with_text(int error_class, std::string text) {
  return texts_of_process().keep(error_class, std::move(text));
}

std::string message_of(int code) { return texts_of_process().find(code); }

const char* name_of_class(int error_class) {
  const ClassInfo* const found = find_class(error_class);
  return found != nullptr ? found->name : nullptr;
}

const char* meaning_of_class(int error_class) {
  const ClassInfo* const found = find_class(error_class);
  return found != nullptr ? found->meaning : nullptr;
}

}  // namespace clump::base
