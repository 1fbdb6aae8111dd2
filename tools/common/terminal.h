// How text is shown to people: as wide as their terminal, and with colour.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clump::tools {

/// How many characters a line may have: as many as the terminal that the descriptor is has columns, or what
/// COLUMNS says; 80 where neither is known.
std::size_t columns(int descriptor);

/// `text` with its longer lines broken at blanks. What follows is indented to where a line's own text begins:
/// behind its last gap of two blanks or more in its first half, or `step` further than the line. A word that
/// is longer than a line stays whole.
std::string fit(std::string_view text, std::size_t columns, std::size_t step = 2);

/// The same for what is written to a descriptor: as wide as its terminal, and unchanged if it is none.
std::string fit_terminal(std::string_view text, int descriptor);

/// "auto", "always" or "never", and nothing else: false. Before other threads, as it is for the whole
/// process.
bool choose_color(std::string_view when);
/// Whether what goes to the descriptor may have colour: by default on a terminal, unless NO_COLOR is set or
/// the terminal is "dumb".
bool has_color(int descriptor);
/// Bold and red.
std::string emphasized(std::string_view text);

}  // namespace clump::tools
