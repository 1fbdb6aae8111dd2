// Texts of others as a terminal may be given them: names of programs, hosts, communicators and libraries,
// what other programs say. A terminal obeys control characters, which can hide or change what stands around
// them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace clump::base {

/// The text with its control characters as "\x1b": those of ASCII but line feed and tab, DEL, and those from
/// U+0080 to U+009F, as characters of UTF-8 and as single bytes. A line may end in carriage return and line
/// feed: of these the line feed stays. Any thread.
std::string printable(std::string text);

/// The same, as far as there is room; returns how much of the room is used. Four times as many bytes as the
/// text has are enough. Signal handlers may call it.
std::size_t printable_into(std::span<char> room, std::string_view text);

/// Bytes of the character of UTF-8 (RFC 3629, section 4) that the text begins with; 0: it begins with none.
std::size_t length_of_character(std::string_view text);

}  // namespace clump::base
