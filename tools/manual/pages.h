// What the tools' options are, for whoever writes them down: manual pages and the completion of shells. Read
// from the tables by which the tools themselves parse and print --help.
#pragma once

#include <string>
#include <vector>

namespace clump::manual {

struct Option {
  std::vector<std::string> spellings;  ///< with their dashes
  int values = 0;                      ///< how many words follow
  bool may_have_value = false;         ///< after '=', if the user likes
  std::string metavar;                 ///< as --help shows it: "N", " NAME VALUE", "[=FILE]", "a|b"
  std::string text;
};

struct Section {
  std::string title;  ///< of a subcommand: its name
  std::string text;
  std::vector<Option> options;
};

struct Page {
  std::string name;                   ///< of the command
  std::vector<std::string> synonyms;  ///< which the page is for, too
  std::string summary;                ///< what whatis(1) shows
  std::vector<std::string> synopsis;
  std::vector<std::string> description;  ///< paragraphs
  std::vector<Section> sections;
  std::vector<std::string> exit_codes;  ///< paragraphs
  bool has_subcommands = false;
};

Page mpiexec_page();
Page clump_page();
/// `options` is the path of tools/mpicc/options.txt. Throws std::runtime_error if it cannot be read.
Page mpicc_page(const std::string& options);

/// As a manual page, for man(7).
std::string as_roff(const Page& page);
/// As functions that complete command lines.
std::string as_bash(const std::vector<Page>& pages);
std::string as_zsh(const std::vector<Page>& pages);

}  // namespace clump::manual
