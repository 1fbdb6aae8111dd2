#include "coll/select/rules.h"

#include <algorithm>
#include <charconv>

namespace clump::coll {

namespace {

constexpr std::string_view kSpace = " \t\r";
constexpr std::string_view kEndsName = " \t\r,";
constexpr std::string_view kConditions =
    "'in one process', 'on one node', 'from N ranks', 'up to N ranks', 'from N bytes' (or KiB, MiB), 'below "
    "N "
    "bytes', 'the operation commutes' and 'the operation is predefined'";
constexpr Count kMostBytes = Count{1} << 50;
constexpr Count kMostRanks = 1 << 24;

struct Words {
  std::string_view text;
  std::uint8_t value;
};
constexpr Words kWhere[] = {{"in one process", static_cast<std::uint8_t>(Where::kProcess)},
                            {"on one node", static_cast<std::uint8_t>(Where::kNode)}};
constexpr Words kOperations[] = {
    {"the operation commutes", static_cast<std::uint8_t>(Operations::kCommutative)},
    {"the operation is predefined", static_cast<std::uint8_t>(Operations::kPredefined)}};
constexpr struct {
  std::string_view text;
  int shift;
} kUnits[] = {{"bytes", 0}, {"byte", 0}, {"KiB", 10}, {"MiB", 20}};

/// Empty if it says nothing.
template <std::size_t kCount>
std::string_view words_for(const Words (&all)[kCount], std::uint8_t value) {
  const auto* const found = std::ranges::find(all, value, &Words::value);
  return found == std::end(all) ? std::string_view() : found->text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = std::min(text.find_first_not_of(kSpace), text.size());
  return text.substr(from, text.find_last_not_of(kSpace) + 1 - from);
}

/// Takes off `text` what comes before `end`, and `end`.
std::string_view take(std::string_view& text, std::string_view ends) {
  const std::size_t at = std::min(text.find_first_of(ends), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

/// "up to 4 ranks" without its first and its last words.
bool between(std::string_view text, std::string_view first, std::string_view last, std::string_view& middle) {
  if (!text.starts_with(first) || !text.ends_with(last) || text.size() < first.size() + last.size())
    return false;
  middle = trimmed(text.substr(first.size(), text.size() - first.size() - last.size()));
  return true;
}

/// From 1 to `most`.
bool number(std::string_view text, Count most, Count& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end && value >= 1 && value <= most;
}

/// "64 KiB".
bool size(std::string_view text, Count& value) {
  for (const auto& [unit, shift] : kUnits) {
    std::string_view digits;
    if (!between(text, "", unit, digits)) continue;
    if (!number(digits, kMostBytes >> shift, value)) return false;
    value <<= shift;
    return true;
  }
  return false;
}

/// Neighbourhood collectives ask no rules.
constexpr int kSelectable = static_cast<int>(Collective::kScan) + 1;

void list(std::string& all, std::string_view name) { all.append(all.empty() ? "" : ", ").append(name); }

/// One line; says what is wrong with it in text without its number.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(trimmed(text)) {}

  std::string parse(Rule& rule) {
    std::string wrong = take_collective(rule);
    if (wrong.empty()) wrong = take_algorithm(rule);
    while (wrong.empty() && !rest_.empty()) wrong = condition(trimmed(take(rest_, ",")), rule);
    return wrong.empty() ? check(rule) : wrong;
  }

 private:
  std::string take_collective(Rule& rule) {
    const std::string_view word = take(rest_, kSpace);
    rest_ = trimmed(rest_);
    std::string known;
    for (int i = 0; i < kSelectable; ++i) {
      rule.collective = static_cast<Collective>(i);
      if (word == name_of(rule.collective)) return {};
      list(known, name_of(rule.collective));
    }
    return fmt::format("'{}' is no collective operation: there is {}", word, known);
  }

  /// Of the name, if the rest of the line begins with it; otherwise 0.
  std::size_t length_at_begin(std::string_view name) const {
    if (!rest_.starts_with(name)) return 0;
    const bool ends = rest_.size() == name.size() || kEndsName.find(rest_[name.size()]) != kEndsName.npos;
    return ends ? name.size() : 0;
  }

  /// Names have blanks in them: the longest one that the line goes on with.
  std::string take_algorithm(Rule& rule) {
    std::size_t longest = 0;
    std::string known;
    for (int i = 0; i < kAlgorithms; ++i) {
      const auto algorithm = static_cast<Algorithm>(i);
      if (!limits_of(rule.collective, algorithm)) continue;
      list(known, name_of(algorithm));
      const std::size_t length = length_at_begin(name_of(algorithm));
      if (length <= longest) continue;
      longest = length;
      rule.algorithm = algorithm;
    }
    const std::string_view text = rest_;
    rest_ = trimmed(rest_.substr(longest));
    if (rest_.starts_with(',')) rest_.remove_prefix(1);
    if (longest > 0) return {};
    return fmt::format("{} has no algorithm '{}': there is {}", name_of(rule.collective), text, known);
  }

  std::string condition(std::string_view text, Rule& rule) {
    std::string_view number;
    if (between(text, "up to ", " ranks", number) || between(text, "up to ", " rank", number))
      return ranks(text, number, rule.up_to_ranks);
    if (between(text, "from ", " ranks", number) || between(text, "from ", " rank", number))
      return ranks(text, number, rule.from_ranks);
    if (between(text, "below ", "", number)) return bytes(text, number, rule.below_bytes);
    if (between(text, "from ", "", number)) return bytes(text, number, rule.from_bytes);
    if (const auto* known = std::ranges::find(kWhere, text, &Words::text); known != std::end(kWhere))
      return set(text, static_cast<Where>(known->value), rule.where);
    if (const auto* known = std::ranges::find(kOperations, text, &Words::text);
        known != std::end(kOperations))
      return set(text, static_cast<Operations>(known->value), rule.operations);
    return fmt::format("'{}' is no condition: there is {}", text, kConditions);
  }

  template <typename Value>
  static std::string set(std::string_view text, Value value, Value& member) {
    if (member != Value{}) return fmt::format("'{}' is a second condition of its kind", text);
    member = value;
    return {};
  }
  static std::string ranks(std::string_view text, std::string_view digits, int& member) {
    Count value = 0;
    if (number(digits, kMostRanks, value)) return set(text, static_cast<int>(value), member);
    return fmt::format("'{}': there has to be a number of ranks from 1 to {}", text, kMostRanks);
  }
  static std::string bytes(std::string_view text, std::string_view words, Count& member) {
    Count value = 0;
    if (size(words, value)) return set(text, value, member);
    return fmt::format("'{}': sizes are written '481 bytes', '64 KiB' or '2 MiB'", text);
  }

  /// Whether the algorithm can do what the rule leaves to it.
  static std::string check(const Rule& rule) {
    const Limits limits = *limits_of(rule.collective, rule.algorithm);
    const auto needs = [&](std::string_view what) {
      return fmt::format("'{}' of {} needs '{}'", name_of(rule.algorithm), name_of(rule.collective), what);
    };
    if (limits.below_bytes != 0 && (rule.below_bytes == 0 || rule.below_bytes > limits.below_bytes))
      return needs("below " + size_text(limits.below_bytes)) + " or less";
    if (rule.operations < limits.operations)
      return needs(words_for(kOperations, static_cast<std::uint8_t>(limits.operations)));
    if (!is_for(rule.where, rule.algorithm))
      return fmt::format("'{}' is not for ranks {}", name_of(rule.algorithm),
                         words_for(kWhere, static_cast<std::uint8_t>(rule.where)));
    return {};
  }

  std::string_view rest_;
};

/// "cores: 16", as a comment.
void note_comment(std::string_view comment, RuleText& parsed) {
  std::string_view digits;
  Count cores = 0;
  if (between(trimmed(comment), "cores:", "", digits) && number(digits, kMostRanks, cores))
    parsed.cores = static_cast<int>(cores);
}

}  // namespace

std::string size_text(Count bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

std::string ranks_text(int ranks) { return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"); }

std::string condition_text(const Rule& rule) {
  std::string text(words_for(kWhere, static_cast<std::uint8_t>(rule.where)));
  if (rule.from_ranks != 0) list(text, "from " + ranks_text(rule.from_ranks));
  if (rule.up_to_ranks != 0) list(text, "up to " + ranks_text(rule.up_to_ranks));
  if (rule.from_bytes != 0) list(text, "from " + size_text(rule.from_bytes));
  if (rule.below_bytes != 0) list(text, "below " + size_text(rule.below_bytes));
  if (rule.operations != Operations::kAny)
    list(text, words_for(kOperations, static_cast<std::uint8_t>(rule.operations)));
  return text;
}

std::string line_text(const Rule& rule) {
  std::string text =
      fmt::format("{:<16}{:<24}{}", name_of(rule.collective), name_of(rule.algorithm), condition_text(rule));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string compact_text(std::span<const Rule> rules) {
  std::string text;
  for (const Rule& rule : rules) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ";", name_of(rule.collective),
                        name_of(rule.algorithm), condition_text(rule));
  }
  return text;
}

base::Status parse_rules(std::string_view source, std::string_view text, RuleText& parsed) {
  for (int number = 1; !text.empty(); ++number) {
    std::string_view comment = take(text, "\n");
    std::string_view lines = take(comment, "#");
    note_comment(comment, parsed);
    while (!lines.empty()) {
      const std::string_view line = trimmed(take(lines, ";"));
      if (line.empty()) continue;
      Rule rule{};
      if (const std::string wrong = Line(line).parse(rule); !wrong.empty())
        return base::fail(MPI_ERR_ARG, "{}:{}: {}", source, number, wrong);
      parsed.rules.push_back(rule);
    }
  }
  return {};
}

}  // namespace clump::coll
