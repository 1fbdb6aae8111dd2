// What the options of mpiexec do: a handler for each row of option_table.cc. A handler fails with a message
// that names the option, its value and what is wrong.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "command/parser.h"

namespace clump::mpiexec::handlers {

inline constexpr std::string_view kNoRankFile = "use --host, --map-by and --cores";

// Members by which options say where their value goes.
template <typename Value>
Value& at(Parser& parser, Value Command::*member) {
  return parser.command().*member;
}
template <typename Value>
Value& at(Parser& parser, Value Part::*member) {
  return parser.part().*member;
}
template <typename Value>
Value& at(Parser& parser, Value tools::Ranks::*member) {
  return parser.command().as_asked.*member;
}

/// A whole number from `least` to `most`.
template <typename Number>
base::Status read_number(const Given& given, std::string_view text, Number& value, int least = 1,
                         std::int64_t most = kMaxRanks) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size())
    return base::fail(MPI_ERR_ARG, "{} {}: '{}' is not a whole number", given.word, text, text);
  if (error == std::errc::result_out_of_range || value > most)
    return base::fail(MPI_ERR_ARG, "{} {}: the number is too large (at most {})", given.word, text, most);
  if (value < least) return base::fail(MPI_ERR_ARG, "{} {}: must be at least {}", given.word, text, least);
  return {};
}
inline base::Status read_number(const Given& given, std::string_view text, std::optional<int>& value,
                                int least) {
  return read_number(given, text, value.emplace(), least);
}

inline tools::Wish& at(Parser& parser, tools::Wish tools::LauncherChoice::*member) {
  return parser.command().launcher.*member;
}

// Options that set one member.
template <auto kMember>
base::Status set(Parser& parser, const Given&) {
  at(parser, kMember) = true;
  return {};
}
template <auto kMember>
base::Status text(Parser& parser, const Given& given) {
  at(parser, kMember) = given.values[0];
  return {};
}
template <auto kMember>
base::Status setting(Parser& parser, const Given& given) {
  at(parser, kMember) = {given.word.substr(0, given.word.find('=')), given.values[0]};
  return {};
}
template <auto kMember, int kLeast = 1>
base::Status number(Parser& parser, const Given& given) {
  return read_number(given, given.values[0], at(parser, kMember), kLeast);
}

// Environment variables: of this part of the command line, or of all.
inline Environment& of_part(Parser& parser) { return parser.part().environment; }
inline Environment& of_job(Parser& parser) { return parser.command().environment; }
void inherit_as(Environment& environment, Environment::Inherit how);
void inherit_names(Environment& environment, const std::string& list);
base::Status add_variable(Environment& environment, const Given& given);

template <Environment& (*kOf)(Parser&), Environment::Inherit kHow>
base::Status inherit(Parser& parser, const Given&) {
  inherit_as(kOf(parser), kHow);
  return {};
}
template <Environment& (*kOf)(Parser&)>
base::Status inherit_listed(Parser& parser, const Given& given) {
  inherit_names(kOf(parser), given.values[0]);
  return {};
}
template <Environment& (*kOf)(Parser&)>
base::Status set_variable(Parser& parser, const Given& given) {
  return add_variable(kOf(parser), given);
}

/// Files for stdout (0) or stderr (1).
base::Status add_output_file(Command& command, const Given& given, std::size_t stream);
template <std::size_t kStream>
base::Status output_file(Parser& parser, const Given& given) {
  return add_output_file(parser.command(), given, kStream);
}

using Handler = base::Status(Parser& parser, const Given& given);
Handler ranks, path, architecture, options_of_file, parts_of_file;                       // programs
Handler run_as, scheduler, hosts, hostfile, one_per_host, map_by, rank_by, round_robin;  // where ranks run
Handler launcher, prefix, mca;                                            // how other hosts are reached
Handler export_variable, initial_errhandler, allocator;                   // what they find there
Handler collectives, reproducible, check, profile, trace, seed, explore;  // how they run
Handler output_folder, output_folder_and_tee, output, input, gdb_commands;
Handler tag_output, timestamp_output, line_prefix, color, universe;
Handler count_elsewhere;  ///< says how many ranks there are for a resource that is not told apart here
Handler already;          ///< asks for what happens anyway: accepted without a word
Handler ignored;          ///< accepted and named once on stderr; a value that means nothing elsewhere fails
Handler refused;          ///< known, but the job would not do what the user wants: an error that says so

}  // namespace clump::mpiexec::handlers
