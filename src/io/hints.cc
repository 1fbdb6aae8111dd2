#include "io/hints.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace clump::io {

namespace {

std::optional<Count> number_of(const std::optional<std::string>& text, int base = 10) {
  if (!text) return {};
  Count value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, base);
  if (error != std::errc() || end != text->data() + text->size() || value < 0) return {};
  return value;
}

constexpr Count kLeastBuffer = 4096, kMostBuffer = Count{1} << 30;

/// Reserved by the standard; a file system may use them, and this library passes none of them on.
constexpr std::array<std::string_view, 11> kReserved = {
    "access_style", "cb_block_size", "chunked",      "chunked_item",    "chunked_size", "filename",
    "io_node_list", "nb_proc",       "num_io_nodes", "striping_factor", "striping_unit"};

void take_use(const core::Info& info, const char* key, Hints::Collective& use) {
  const auto value = info.get(key);
  if (value == "enable" || value == "true") use = Hints::Collective::kAlways;
  if (value == "disable" || value == "false") use = Hints::Collective::kNever;
  if (value == "automatic") use = Hints::Collective::kAutomatic;
}

const char* name_of(Hints::Collective use) {
  switch (use) {
    case Hints::Collective::kAlways:
      return "enable";
    case Hints::Collective::kNever:
      return "disable";
    default:
      return "automatic";
  }
}

}  // namespace

void Hints::take(const core::Info& info) {
  if (const auto value = number_of(info.get("cb_nodes")); value && *value <= std::numeric_limits<int>::max())
    aggregators = static_cast<int>(*value);
  if (const auto value = number_of(info.get("cb_buffer_size"));
      value && *value >= kLeastBuffer && *value <= kMostBuffer)
    buffer_bytes = *value;
  if (const auto value = number_of(info.get("file_perm"), 8); value && *value <= 07777)
    permissions = static_cast<mode_t>(*value);
  for (const char* key : {"collective_buffering", "romio_cb_read"}) take_use(info, key, reading);
  for (const char* key : {"collective_buffering", "romio_cb_write"}) take_use(info, key, writing);
  for (const std::string_view key : kReserved)
    if (const auto value = info.get(key)) kept_.set(key, *value);
}

core::Info Hints::told() const {
  core::Info info = kept_;
  info.set("cb_nodes", std::to_string(aggregators));
  info.set("cb_buffer_size", std::to_string(buffer_bytes));
  info.set("collective_buffering", writing == Collective::kNever ? "false" : "true");
  info.set("romio_cb_read", name_of(reading));
  info.set("romio_cb_write", name_of(writing));
  return info;
}

}  // namespace clump::io
