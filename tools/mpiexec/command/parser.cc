#include "command/parser.h"

#include <algorithm>

#include "command/counts.h"
#include "command/word_file.h"
#include "common/spelling.h"

namespace clump::mpiexec {

namespace {

constexpr int kMostFiles = 64;  // of options, before they are taken for files that name each other

const Option* find(std::string_view name) {
  for (const Option& row : option_table()) {
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return &row;
  }
  return nullptr;
}

/// It is one that mpiexec knows, and not a negative number or a name.
bool is_option(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  word.remove_prefix(word[1] == '-' ? 2 : 1);
  return find(word.substr(0, word.find('='))) != nullptr;
}

base::Status unknown(std::string_view word, std::string_view name) {
  std::vector<std::string_view> all;
  for (const Option& row : option_table()) all.insert(all.end(), row.names.begin(), row.names.end());
  const std::size_t digits = name.find_first_of("0123456789");
  if (digits == 1 && find(name.substr(0, 1)) != nullptr)
    return base::fail(MPI_ERR_ARG, "unknown option {}; write -{} {}", word, name.substr(0, 1),
                      name.substr(1));
  const std::string_view nearest = tools::nearest(name, all);
  if (nearest.empty())
    return base::fail(MPI_ERR_ARG, "unknown option {} (mpiexec --help shows the options)", word);
  return base::fail(MPI_ERR_ARG, "unknown option {}; did you mean --{}?", word, nearest);
}

}  // namespace

std::string Given::text() const {
  std::string all = word;
  if (word.find('=') == std::string::npos) {
    for (const std::string& value : values) all += " " + value;
  }
  return all;
}

base::Status Parser::run() {
  command_.parts.emplace_back();
  while (at_ < words_.size()) {
    const std::string word = words_[at_];
    const std::size_t begin = at_;
    is_left_out_ = false;
    if (word.size() > 1 && word[0] == '-' && !options_ended_) {
      CLUMP_TRY(option());
      if (command_.help || command_.version) return {};
    } else if (word == ":") {
      CLUMP_TRY(end_part());
      command_.parts.emplace_back();
      options_ended_ = false;
      ++at_;
    } else {
      program();
    }
    if (!is_left_out_)
      command_.other_words.insert(command_.other_words.end(),
                                  words_.begin() + static_cast<std::ptrdiff_t>(begin),
                                  words_.begin() + static_cast<std::ptrdiff_t>(at_));
  }
  return end_part();
}

/// The program and its arguments: all words up to ':' or the end, or as many as were announced, options or
/// not.
void Parser::program() {
  for (int& to_come = part().words_to_come; at_ < words_.size() && (to_come > 0 || words_[at_] != ":");)
    part().words.push_back(words_[at_++]), --to_come;
}

/// `mpiexec --map -n 8` runs nothing.
/// So does a proxy, by itself.
bool Parser::needs_no_program() const {
  return (command_.map || command_.proxy) && command_.parts.size() == 1 && at_ >= words_.size();
}

base::Status Parser::end_part() {
  if (part().soft) CLUMP_TRY(choose_soft("-soft", *part().soft, part().ranks));
  if (!part().words.empty() || needs_no_program()) return {};
  if (command_.parts.size() == 1 && at_ >= words_.size()) {
    return base::fail(
        MPI_ERR_ARG,
        "no program given; usage: mpiexec -n N program [arguments] (mpiexec --help shows the options)");
  }
  return base::fail(MPI_ERR_ARG, "part {} of the command line (between ':') names no program",
                    command_.parts.size());
}

base::Status Parser::option() {
  const std::string word = words_[at_++];
  if (word == "--") {
    options_ended_ = true;
    return {};
  }
  std::string_view name = std::string_view(word).substr(word[1] == '-' ? 2 : 1);
  std::vector<std::string> values;
  const Option* row = find(name);
  if (const std::size_t equals = name.find('='); row == nullptr && equals != std::string_view::npos) {
    values.emplace_back(name.substr(equals + 1));
    name = name.substr(0, equals);
    row = find(name);
    if (row != nullptr && row->values != 1 && !row->may_have_value)
      return base::fail(MPI_ERR_ARG, "option {} takes no value after '='", word);
  }
  if (row == nullptr) return unknown(word, name);
  while (static_cast<int>(values.size()) < row->values) {
    // Hydra's -genv NAME=VALUE: one word for both.
    if (const std::size_t equals = values.empty() ? std::string::npos : values[0].find('=');
        equals != std::string::npos && row->values == 2) {
      values = {values[0].substr(0, equals), values[0].substr(equals + 1)};
      break;
    }
    if (at_ >= words_.size()) {
      return base::fail(MPI_ERR_ARG, "option {} needs {}", word, row->values == 1 ? "a value" : "two values");
    }
    if (values.empty() && is_option(words_[at_]))
      return base::fail(MPI_ERR_ARG,
                        "option {0} needs a value, {1}, and {2} is an option itself; if it is meant as the "
                        "value, write {0}={2}",
                        word, row->metavar.empty() ? "one word" : row->metavar, words_[at_]);
    values.push_back(words_[at_++]);
  }
  return row->handle(*this, {*row, word, values});
}

base::Status Parser::read_file(const Given& given, bool holds_parts) {
  const std::string &word = given.word, &file = given.values[0];
  is_left_out_ = true;  // what it holds comes instead
  if (++files_ > kMostFiles)
    return base::fail(MPI_ERR_ARG, "{} {}: more than {} files of options: do they name each other?", word,
                      file, kMostFiles);
  if (holds_parts && at_ < words_.size() && words_[at_] != ":")
    return base::fail(MPI_ERR_ARG, "{} {}: '{}' comes behind it, and the programs are those of the file",
                      word, file, words_[at_]);
  std::vector<std::vector<std::string>> lines;
  CLUMP_TRY(read_words(word, file, lines));
  std::vector<std::string> all;
  for (const std::vector<std::string>& line : lines) {
    if (holds_parts && !all.empty()) all.emplace_back(":");
    all.insert(all.end(), line.begin(), line.end());
  }
  words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at_), all.begin(), all.end());
  return {};
}

void Parser::note_hosts() {
  HostRange& own = part().hosts;
  std::size_t before = 0;
  for (const Part& other : command_.parts)
    if (&other != &part()) before = std::max(before, other.hosts.end);
  own = {before, places_of(command_.hosts)};
}

void Parser::ignore(const std::string& typed, std::string_view why) {
  std::string option = "option " + typed;
  const auto same = [&](const auto& known) { return known.first == option; };
  if (std::none_of(command_.ignored.begin(), command_.ignored.end(), same)) {
    command_.ignored.emplace_back(std::move(option), why);
  }
}

}  // namespace clump::mpiexec
