#include "common/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace clump::tools {

namespace {

constexpr std::size_t kUsual = 80, kLeast = 20;

std::optional<bool> chosen_color;  // none: by what is there

/// Of UTF-8, without looking at what is wide.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::size_t indent_of(std::string_view line, std::size_t columns, std::size_t step) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  std::size_t indent = std::min(begin + step, columns * 2 / 3);
  for (std::size_t gap = line.find("  ", begin); gap < columns / 2; gap = line.find("  ", indent)) {
    const std::size_t text = line.find_first_not_of(' ', gap);
    if (text > columns / 2) break;  // or there is none
    indent = text;
  }
  return indent;
}

void add_line(std::string& all, std::string_view line, std::size_t columns, std::size_t step) {
  const std::string indent(indent_of(line, columns, step), ' ');
  for (bool first = true;; first = false) {
    if (!first) all += indent;
    const std::size_t room = first ? columns : columns - indent.size();
    if (letters(line) <= room) break;
    std::size_t end = 0;  // a blank behind which the next line begins
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t from = first ? std::min(std::max(indent.size(), begin), line.size()) : 0;
    for (std::size_t at = line.find(' ', from); at != std::string_view::npos; at = line.find(' ', at + 1)) {
      if (end != 0 && letters(line.substr(0, at)) > room) break;
      end = at;
    }
    if (end == 0) break;
    const std::size_t last = line.find_last_not_of(' ', end);
    all.append(line.substr(0, last + 1)).append("\n");
    line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
    if (line.empty()) return all.pop_back();
  }
  all += line;
}

}  // namespace

std::size_t columns(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
    return std::max<std::size_t>(size.ws_col, kLeast);
  std::size_t said = 0;
  if (const char* const text = std::getenv("COLUMNS")) {
    const std::string_view digits = text;
    if (std::from_chars(digits.begin(), digits.end(), said).ptr != digits.end()) said = 0;
  }
  return said == 0 ? kUsual : std::max(said, kLeast);
}

std::string fit(std::string_view text, std::size_t columns, std::size_t step) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_line(all, text.substr(0, end), columns, step);
    if (end < text.size()) all += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::string fit_terminal(std::string_view text, int descriptor) {
  return ::isatty(descriptor) != 0 ? fit(text, columns(descriptor)) : std::string(text);
}

bool choose_color(std::string_view when) {
  if (when == "auto")
    chosen_color.reset();
  else if (when == "always" || when == "never")
    chosen_color = when == "always";
  else
    return false;
  return true;
}

bool has_color(int descriptor) {
  if (chosen_color) return *chosen_color;
  const char* const none = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  const bool is_plain =
      (none != nullptr && *none != '\0') || kind == nullptr || std::string_view(kind) == "dumb";
  return !is_plain && ::isatty(descriptor) != 0;
}

std::string emphasized(std::string_view text) {
  return std::string("\x1b[1;31m").append(text).append("\x1b[0m");
}

}  // namespace clump::tools
