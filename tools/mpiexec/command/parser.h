// Walks over the words of mpiexec's command line, and calls the handler of each option. For the files of this
// folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/options.h"

namespace clump::mpiexec {

/// An option as it stands on the command line.
struct Given {
  const Option& row;
  const std::string& word;                 ///< as typed
  const std::vector<std::string>& values;  ///< as many as the row says; for may_have_value one or none

  /// The option with its values, as the user typed them.
  std::string text() const;
};

class Parser {
 public:
  Parser(const std::vector<std::string>& words, Command& command) : words_(words), command_(command) {}

  base::Status run();

  // For handlers:
  Command& command() { return command_; }
  Part& part() { return command_.parts.back(); }
  /// This part has named hosts: all that none has named before are its own.
  void note_hosts();
  /// The option is understood but has no effect here.
  void ignore(const std::string& typed, std::string_view why);
  /// The option is no part of the words for one run of several.
  void leave_out() { is_left_out_ = true; }
  /// Puts the words of a file in the place of the option. `holds_parts`: its lines are the parts of the
  /// command line. Otherwise its words are options of this part.
  base::Status read_file(const Given& given, bool holds_parts);

 private:
  void program();
  bool needs_no_program() const;
  base::Status end_part();
  base::Status option();

  std::vector<std::string> words_;  // those of files come in where they are named
  Command& command_;
  std::size_t at_ = 0;
  bool options_ended_ = false;
  bool is_left_out_ = false;  // what was read last
  int files_ = 0;
};

}  // namespace clump::mpiexec
