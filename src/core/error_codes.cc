#include "core/error_codes.h"

#include <algorithm>

namespace clump::core {

namespace {

base::Status unknown(const char* name, int value, const char* what) {
  return base::fail(MPI_ERR_ARG, "({} = {}): this program has added no such error {}", name, value, what);
}

}  // namespace

int ErrorCodes::add_class() {
  const std::lock_guard lock(mutex_);
  const int number = next_++;
  entries_[number] = {number, {}};
  return last_used_ = number;
}

base::Status ErrorCodes::add_code(int error_class, int* code) {
  const std::lock_guard lock(mutex_);
  const bool predefined = error_class > MPI_SUCCESS && error_class <= MPI_ERR_LASTCODE;
  if (!predefined && find(error_class, true) == nullptr) return unknown("errorclass", error_class, "class");
  *code = next_++;
  entries_[*code] = {error_class, {}};
  last_used_ = *code;
  return {};
}

base::Status ErrorCodes::set_text(int code, std::string text) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(code);
  if (entry == entries_.end()) return unknown("errorcode", code, "class or code");
  entry->second.text = std::move(text);
  return {};
}

base::Status ErrorCodes::remove_class(int error_class) {
  const std::lock_guard lock(mutex_);
  if (find(error_class, true) == nullptr) return unknown("errorclass", error_class, "class");
  const auto members = std::count_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry.second.error_class == error_class;
  });
  if (members > 1)
    return base::fail(
        MPI_ERR_OTHER,
        "(errorclass = {}): it still has {} error codes; call MPI_Remove_error_code for them first",
        error_class, members - 1);
  CLUMP_TRY(check_no_text("errorclass", error_class));
  entries_.erase(error_class);
  return {};
}

base::Status ErrorCodes::remove_code(int code) {
  const std::lock_guard lock(mutex_);
  if (find(code, false) == nullptr) return unknown("errorcode", code, "code");
  CLUMP_TRY(check_no_text("errorcode", code));
  entries_.erase(code);
  return {};
}

base::Status ErrorCodes::remove_text(int code) { return set_text(code, {}); }

std::optional<int> ErrorCodes::class_of(int code) const {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(code);
  return entry == entries_.end() ? std::nullopt : std::optional(entry->second.error_class);
}

std::string ErrorCodes::text_of(int code) const {
  if (!is_users(code)) {
    std::string text = told_.find(code);
    return text.empty() ? base::message_of(code) : text;
  }
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(code);
  return entry == entries_.end() ? std::string() : entry->second.text;
}

base::Status ErrorCodes::check_no_text(const char* argument, int code) const {
  if (entries_.at(code).text.empty()) return {};
  return base::fail(MPI_ERR_OTHER, "({} = {}): it still has a string; call MPI_Remove_error_string first",
                    argument, code);
}

ErrorCodes::Entry* ErrorCodes::find(int code, bool is_class) {
  const auto entry = entries_.find(code);
  return entry != entries_.end() && (entry->second.error_class == code) == is_class ? &entry->second
                                                                                    : nullptr;
}

}  // namespace clump::core
