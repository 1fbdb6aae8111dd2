// Completion for bash and zsh. Both complete an option's name, a value where the table says what it may be,
// and behind mpiexec's options a program and its files.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "clump/command_line.h"
#include "manual/pages.h"

namespace clump::manual {

namespace {

enum class Value { kNone, kFile, kFolder, kChoice, kOther };

/// What the table's metavar says about the value: "FILE", "DIR[:nocopy]", "fibers|threads".
Value kind_of(const Option& option) {
  const std::string_view metavar = option.metavar;
  if (option.values == 0) return Value::kNone;
  if (metavar.starts_with("FILE")) return Value::kFile;
  if (metavar.starts_with("DIR")) return Value::kFolder;
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || c == '|' || c == '-'; };
  if (metavar.find('|') != std::string_view::npos && std::ranges::all_of(metavar, is_word))
    return Value::kChoice;
  if (metavar.find("|FILE") != std::string_view::npos) return Value::kFile;
  return Value::kOther;
}

std::string choices_of(const Option& option) {
  std::string words = option.metavar;
  std::ranges::replace(words, '|', ' ');
  return words;
}

/// "-cc=COMPILER" -> "-cc="
std::string typed(const std::string& spelling) {
  const std::size_t equals = spelling.find('=');
  return equals == std::string::npos ? spelling : spelling.substr(0, equals + 1);
}

std::string words_of(const std::vector<Section>& sections) {
  std::string words;
  for (const Section& section : sections)
    for (const Option& option : section.options)
      for (const std::string& spelling : option.spellings)
        words += (words.empty() ? "" : " ") + typed(spelling);
  return words;
}

/// "a|b|c" of the spellings of all options of which `is_one` says so; empty if there is none. With one dash
/// and with two.
template <typename Predicate>
std::string pattern_of(const std::vector<Section>& sections, Predicate is_one) {
  std::string pattern;
  for (const Section& section : sections) {
    for (const Option& option : section.options) {
      if (!is_one(option)) continue;
      for (const std::string& spelling : option.spellings) {
        const std::string name = spelling.substr(spelling.find_first_not_of('-'));
        pattern += fmt::format("{}-{}|--{}", pattern.empty() ? "" : "|", name, name);
      }
    }
  }
  return pattern;
}

std::string branch(const std::string& pattern, std::string_view what) {
  return pattern.empty() ? "" : fmt::format("    {}) {} ;;\n", pattern, what);
}

/// The branches of a `case $option in` that complete the option's value.
std::string value_branches(const std::vector<Section>& sections) {
  std::string text =
      branch(pattern_of(sections, [](const Option& o) { return kind_of(o) == Value::kFile; }),
             R"(mapfile -t COMPREPLY < <(compgen -f -- "$current"))") +
      branch(pattern_of(sections, [](const Option& o) { return kind_of(o) == Value::kFolder; }),
             R"(mapfile -t COMPREPLY < <(compgen -d -- "$current"))");
  for (const Section& section : sections) {
    for (const Option& option : section.options) {
      if (kind_of(option) != Value::kChoice) continue;
      text += branch(
          pattern_of({{"", "", {option}}}, [](const Option&) { return true; }),
          fmt::format(R"(mapfile -t COMPREPLY < <(compgen -W "{}" -- "$current"))", choices_of(option)));
    }
  }
  return text;
}

std::string bash_mpiexec(const Page& page) {
  const auto has = [](int count) { return [count](const Option& o) { return o.values == count; }; };
  return "_clump_mpiexec() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} at word option= wanted=0 program=\n"
         "  COMPREPLY=()\n"
         "  # bash makes words of its own of '=' and ':'.\n"
         "  for ((at = 1; at < COMP_CWORD; ++at)); do\n"
         "    word=${COMP_WORDS[at]}\n"
         "    [ \"$word\" != = ] || continue\n"
         "    if ((wanted > 0)); then wanted=$((wanted - 1)); continue; fi\n"
         "    if [ \"$word\" = : ]; then program=; continue; fi\n"
         "    [ -z \"$program\" ] || continue\n"
         "    case $word in\n"
         "    -*) option=$word ;;\n"
         "    *) program=$word; continue ;;\n"
         "    esac\n"
         "    case $option in\n" +
         branch(pattern_of(page.sections, has(1)), "wanted=1") +
         branch(pattern_of(page.sections, has(2)), "wanted=2") +
         "    esac\n"
         "  done\n"
         "  [ \"$current\" != = ] || current=\n"
         "  if ((wanted > 0)); then\n"
         "    case $option in\n" +
         value_branches(page.sections) +
         "    esac\n"
         "  elif [ -n \"$program\" ]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
         "  elif [[ $current == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"" +
         words_of(page.sections) +
         "\" -- \"$current\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -c -- \"$current\"; compgen -f -- \"$current\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _clump_mpiexec mpiexec mpirun\n";
}

std::string bash_clump(const Page& page) {
  std::string commands, branches;
  for (const Section& section : page.sections) {
    if (section.title == "OPTIONS") continue;
    commands += section.title + " ";
    const std::string words = words_of({section});
    const bool takes_program = section.title == "explain" || section.title == "which";
    branches += branch(section.title,
                       takes_program
                           ? R"(mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current"))"
                           : fmt::format(R"(mapfile -t COMPREPLY < <(compgen -W "{} --help" -- "$current"))",
                                         section.title == "lab" ? tools::kLabVerbs : words));
  }
  return "_clump_clump() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]}\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD > 1)); then\n"
         "    case ${COMP_WORDS[COMP_CWORD-1]} in\n" +
         value_branches(page.sections) +
         "    esac\n"
         "    ((${#COMPREPLY[@]} == 0)) || return\n"
         "    case ${COMP_WORDS[1]} in\n" +
         branches +
         "    esac\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"" +
         commands + words_of({page.sections.front()}) +
         "\" -- \"$current\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _clump_clump clump\n";
}

std::string bash_mpicc(const Page& page) {
  std::string names = page.name;
  for (const std::string& synonym : page.synonyms) names += " " + synonym;
  return "_clump_mpicc() {\n"
         "  COMPREPLY=()\n"
         "  [[ ${COMP_WORDS[COMP_CWORD]} != -* ]] || mapfile -t COMPREPLY < <(compgen -W \"" +
         words_of(page.sections) +
         "\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "}\n"
         "complete -o bashdefault -o default -F _clump_mpicc " +
         names + "\n";
}

/// In single quotes, with what _arguments takes for its own marked.
std::string zsh_text(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\'') {
      shown += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') shown += '\\';
    shown += c;
  }
  return shown;
}

std::string zsh_values(const Option& option) {
  std::string text;
  for (int i = 0; i < option.values; ++i) {
    std::string action = " ";
    const Value kind = kind_of(option);
    if (kind == Value::kFile) action = "_files";
    if (kind == Value::kFolder) action = "_files -/";
    if (kind == Value::kChoice) action = fmt::format("({})", choices_of(option));
    text += fmt::format(":{}:{}", zsh_text(option.metavar.empty() ? "value" : option.metavar), action);
  }
  return text;
}

std::string zsh_options(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections)
    for (const Option& option : section.options)
      for (const std::string& spelling : option.spellings)
        text += fmt::format(
            "    '*{}[{}]{}' \\\n",
            zsh_text(typed(spelling)) + (spelling.find('=') != std::string::npos ? "-" : ""),
            zsh_text(option.text.empty() ? "accepted, changes nothing" : option.text),
            spelling.find('=') != std::string::npos ? ":compiler:_command_names -e" : zsh_values(option));
  return text;
}

std::string zsh_clump(const Page& page) {
  std::string names, branches;
  for (const Section& section : page.sections) {
    if (section.title == "OPTIONS") continue;
    names += fmt::format("      '{}:{}' \\\n", section.title, zsh_text(section.text));
    const std::string verbs =
        section.title == "lab" ? fmt::format("    '1:verb:({})' \\\n", tools::kLabVerbs) : "";
    branches += fmt::format("  {})\n    _arguments \\\n{}{}    '*:file:_files'\n    ;;\n", section.title,
                            zsh_options({section}), verbs);
  }
  return "_clump_clump() {\n"
         "  if ((CURRENT == 2)); then\n"
         "    local -a commands=( \\\n" +
         names +
         "    )\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=${words[2]}\n"
         "  shift words\n"
         "  ((--CURRENT))\n"
         "  case $command in\n" +
         branches + "  esac\n}\n";
}

}  // namespace

std::string as_bash(const std::vector<Page>& pages) {
  return "# Completion of mpiexec, clump and the compiler wrappers for bash: source it, or leave it where "
         "bash-completion looks.\n" +
         bash_mpiexec(pages[0]) + bash_clump(pages[1]) + bash_mpicc(pages[2]);
}

std::string as_zsh(const std::vector<Page>& pages) {
  std::string wrappers = pages[2].name;
  for (const std::string& synonym : pages[2].synonyms) wrappers += " " + synonym;
  return "#compdef mpiexec mpirun clump " + wrappers +
         "\n# Completion of mpiexec, clump and the compiler wrappers for zsh: its folder belongs into "
         "fpath.\n"
         "_clump_mpiexec() {\n  _arguments -S \\\n" +
         zsh_options(pages[0].sections) +
         "    '1:program:_command_names -e' \\\n    '*::arguments:_normal'\n}\n" + zsh_clump(pages[1]) +
         "_clump_mpicc() {\n  _arguments \\\n" + zsh_options(pages[2].sections) +
         "    '*:file:_files'\n}\n"
         "case $service in\nmpiexec | mpirun) _clump_mpiexec ;;\nclump) _clump_clump ;;\n*) _clump_mpicc "
         ";;\nesac\n";
}

}  // namespace clump::manual
