// Tool support (MPI-5.0 chapter 15): MPI_Pcontrol, start and end of the tool information interface,
// enumerations and categories.
#include "mpi/tool/tools.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "mpi/bodies.h"
#include "mpi/process.h"
#include "mpi/trace/recording.h"

namespace clump::mpi {

namespace {

using base::Status;
using instruments::Category;
using instruments::Enumeration;
using instruments::Tool;

// A handle is the number of the enumeration, counted from here: like other handles, above the predefined.
constexpr std::intptr_t kFirstEnumeration = core::kPredefinedHandles;

/// Writes the indexes of those entries of a table that are in a category, at most `len`.
template <typename T>
Status list(const std::vector<T>& table, int category, int len, int indices[]) {
  if (entry_at(instruments::categories(), category) == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  if (len < 0 || (len > 0 && indices == nullptr)) return tool_failure(MPI_T_ERR_INVALID);
  for (std::size_t i = 0; i < table.size() && len > 0; ++i) {
    if (static_cast<int>(table[i].category) != category) continue;
    *indices++ = static_cast<int>(i);
    --len;
  }
  return {};
}

template <typename T>
int count_in(const std::vector<T>& table, int category) {
  return static_cast<int>(std::ranges::count(table, static_cast<Category>(category), &T::category));
}

/// All others are in the first one.
int categories_in(int category) {
  return category == 0 ? static_cast<int>(instruments::categories().size()) - 1 : 0;
}

}  // namespace

void put_text(std::string_view text, char* buffer, int* length) {
  if (length == nullptr) return;
  if (buffer != nullptr && *length > 0) {
    const std::size_t used = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(buffer, text.data(), used);
    buffer[used] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

MPI_T_enum handle_of(const Enumeration* enumeration) {
  if (enumeration == nullptr) return MPI_T_ENUM_NULL;
  return core::handle_of<MPI_T_enum>(kFirstEnumeration + (enumeration - instruments::enumerations().data()));
}

const Enumeration* enumeration_of(MPI_T_enum handle) {
  const std::intptr_t index = core::value_of(handle) - kFirstEnumeration;
  return index < 0 || index > INT_MAX ? nullptr
                                      : entry_at(instruments::enumerations(), static_cast<int>(index));
}

/// MPI_T_init_thread may be a rank's first call, before MPI_Init, and the last, after MPI_Finalize.
Status t_init_thread(core::Rank*, int required, int* provided) {
  if (!is_thread_level(required) || provided == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  std::string why;
  core::Rank* const self = find_rank(why);
  if (self == nullptr) return tool_failure(MPI_T_ERR_CANNOT_INIT);
  Tool::of(*self).begin();
  *provided = MPI_THREAD_MULTIPLE;
  return {};
}

Status t_finalize(Tool& tool) {
  tool.end();
  return {};
}

Status t_enum_get_info(Tool&, MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  const Enumeration* const enumeration = enumeration_of(enumtype);
  if (enumeration == nullptr) return tool_failure(MPI_T_ERR_INVALID_HANDLE);
  put(num, static_cast<int>(enumeration->items.size()));
  put_text(enumeration->name, name, name_len);
  return {};
}

Status t_enum_get_item(Tool&, MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  const Enumeration* const enumeration = enumeration_of(enumtype);
  if (enumeration == nullptr) return tool_failure(MPI_T_ERR_INVALID_HANDLE);
  const Enumeration::Item* const item = entry_at(enumeration->items, index);
  if (item == nullptr) return tool_failure(MPI_T_ERR_INVALID_ITEM);
  put(value, item->value);
  put_text(item->name, name, name_len);
  return {};
}

Status t_category_get_num(Tool&, int* num_cat) { return count_entries(instruments::categories(), num_cat); }

Status t_category_get_info(Tool&, int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                           int* num_cvars, int* num_pvars, int* num_categories) {
  const auto* const category = entry_at(instruments::categories(), cat_index);
  if (category == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  put_text(category->name, name, name_len);
  put_text(category->description, desc, desc_len);
  put(num_cvars, count_in(instruments::controls(), cat_index));
  put(num_pvars, count_in(instruments::meters(), cat_index));
  put(num_categories, categories_in(cat_index));
  return {};
}

Status t_category_get_num_events(Tool&, int cat_index, int* num_events) {
  if (entry_at(instruments::categories(), cat_index) == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  put(num_events, count_in(instruments::event_kinds(), cat_index));
  return {};
}

Status t_category_get_index(Tool&, const char* name, int* cat_index) {
  return find_entry(instruments::categories(), name, cat_index);
}

Status t_category_get_cvars(Tool&, int cat_index, int len, int indices[]) {
  return list(instruments::controls(), cat_index, len, indices);
}

Status t_category_get_pvars(Tool&, int cat_index, int len, int indices[]) {
  return list(instruments::meters(), cat_index, len, indices);
}

Status t_category_get_events(Tool&, int cat_index, int len, int indices[]) {
  return list(instruments::event_kinds(), cat_index, len, indices);
}

Status t_category_get_categories(Tool&, int cat_index, int len, int indices[]) {
  if (entry_at(instruments::categories(), cat_index) == nullptr) return tool_failure(MPI_T_ERR_INVALID_INDEX);
  if (len < 0 || (len > 0 && indices == nullptr)) return tool_failure(MPI_T_ERR_INVALID);
  for (int i = 0; i < std::min(len, categories_in(cat_index)); ++i) indices[i] = i + 1;
  return {};
}

/// Nothing is ever added: the catalogue is complete from the start.
Status t_category_changed(Tool&, int* update_number) {
  if (update_number == nullptr) return tool_failure(MPI_T_ERR_INVALID);
  *update_number = 0;
  return {};
}

/// MPI-5.0 section 15.2.4: 0 switches profiling off, all that is more switches it on. A tool that knows more
/// levels puts its own MPI_Pcontrol in front.
int pcontrol(const int level) {
  if (core::Rank* const self = core::current_rank(); self != nullptr && level >= 0)
    Recording::control(*self, level > 0);
  return MPI_SUCCESS;
}

}  // namespace clump::mpi
