#include "command/word_file.h"

#include <sstream>
#include <utility>

#include "common/text_file.h"

namespace clump::mpiexec {

namespace {

/// False if a quotation does not end.
bool split(const std::string& line, std::vector<std::string>& words) {
  char quote = '\0';
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    const bool is_blank = letter == ' ' || letter == '\t' || letter == '\r';
    if (quote == '\0' && is_blank) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (letter == quote)
      quote = '\0';
    else if (quote == '\0' && (letter == '\'' || letter == '"'))
      quote = letter;
    else if (letter == '\\' && quote != '\'' && i + 1 < line.size())
      words.back() += line[++i];
    else
      words.back() += letter;
  }
  return quote == '\0';
}

}  // namespace

base::Status read_words(const std::string& option, const std::string& file,
                        std::vector<std::vector<std::string>>& lines) {
  std::string text, why;
  if (!tools::read_file(file, text, why)) return base::fail(MPI_ERR_ARG, "{} {}: {}", option, file, why);
  std::istringstream stream(text);
  int number = 0;
  for (std::string line, next; std::getline(stream, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const int first = number;
    while (line.ends_with('\\') && std::getline(stream, next)) {
      ++number;
      line.replace(line.size() - 1, 1, " " + next);
    }
    if (!split(line, lines.emplace_back()))
      return base::fail(MPI_ERR_ARG, "{} {}: line {}: a quotation does not end", option, file, first);
  }
  return {};
}

}  // namespace clump::mpiexec
