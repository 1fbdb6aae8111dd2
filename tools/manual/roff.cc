// Manual pages in the language of man(7).
#include <fmt/format.h>

#include "manual/pages.h"

namespace clump::manual {

namespace {

/// Text that roff shows as it is.
std::string plain(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\\')
      shown += "\\e";
    else if (c == '-')
      shown += "\\-";
    else if (c == '~')
      shown += "\\(ti";
    else
      shown += c;
  }
  if (!shown.empty() && (shown[0] == '.' || shown[0] == '\'')) shown.insert(0, "\\&");
  return shown;
}

std::string names_of(const Option& option) {
  std::string names;
  for (const std::string& spelling : option.spellings)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", plain(spelling));
  if (!option.metavar.empty())
    names += fmt::format("{}\\fI{}\\fR", option.may_have_value ? "" : " ", plain(option.metavar));
  return names;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string section_of(const Page& page, const Section& section) {
  const bool is_subcommand = page.has_subcommands && section.title != "OPTIONS";
  std::string text = is_subcommand ? fmt::format(".SS \"{} {}\"\n", page.name, section.title)
                                   : fmt::format(".SH {}\n", section.title);
  if (!section.text.empty()) text += plain(section.text) + "\n.PP\n";
  bool has_texts = false;
  for (const Option& option : section.options) has_texts |= !option.text.empty();
  for (std::size_t i = 0; i < section.options.size(); ++i) {
    const Option& option = section.options[i];
    if (has_texts)
      text += fmt::format(".TP\n{}\n{}\n", names_of(option), plain(option.text));
    else
      text += names_of(option) + (i + 1 < section.options.size() ? ",\n" : "\n");
  }
  return text;
}

}  // namespace

std::string as_roff(const Page& page) {
  std::string text =
      fmt::format(".TH {} 1 \"\" \"Clump {}\" \"Clump\"\n.nh\n", upper(page.name), CLUMP_VERSION);
  std::string names = page.name;
  for (const std::string& synonym : page.synonyms) names += ", " + synonym;
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n", plain(names), plain(page.summary));
  for (const std::string& line : page.synopsis) text += plain(line) + "\n";
  text += ".fi\n.SH DESCRIPTION\n";
  for (const std::string& paragraph : page.description) text += fmt::format(".PP\n{}\n", plain(paragraph));
  bool has_commands = false;
  for (const Section& section : page.sections) {
    if (page.has_subcommands && section.title != "OPTIONS" && !has_commands) {
      text += ".SH COMMANDS\n";
      has_commands = true;
    }
    text += section_of(page, section);
  }
  text += ".SH \"EXIT STATUS\"\n";
  for (const std::string& paragraph : page.exit_codes) text += fmt::format(".PP\n{}\n", plain(paragraph));
  std::string others;
  for (const char* const other : {"mpiexec", "mpicc", "clump"})
    if (page.name != other) others += fmt::format("{}\\fB{}\\fR(1)", others.empty() ? "" : ",\n", other);
  return text + ".SH \"SEE ALSO\"\n" + others + "\n";
}

}  // namespace clump::manual
