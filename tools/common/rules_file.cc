#include "common/rules_file.h"

#include <cstdlib>

#include "coll/select/rules.h"
#include "common/places.h"
#include "common/text_file.h"

namespace clump::tools {

namespace {

// Ranks get them in one environment variable, of which Linux takes 128 KiB.
constexpr std::size_t kMostBytes = 100'000;

/// Empty if it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

base::Status read(const std::string& path, const char* named_by, RulesFile& file) {
  std::string text, why;
  if (!read_file(path, text, why)) return base::fail(MPI_ERR_ARG, "{}{}: {}", named_by, path, why);
  coll::RuleText parsed;
  if (const base::Status status = coll::parse_rules(path, text, parsed); !status.ok())
    return base::fail(MPI_ERR_ARG,
                      "{} (clump tune writes the file anew; mpiexec --coll-rules none does without it)",
                      base::message_of(status.code()));
  if (const std::size_t bytes = coll::compact_text(parsed.rules).size(); bytes > kMostBytes)
    return base::fail(MPI_ERR_ARG, "{}: {} rules are too many: at most {} bytes, and these need {}", path,
                      parsed.rules.size(), kMostBytes, bytes);
  file = {path, std::move(parsed.rules), parsed.cores};
  return {};
}

}  // namespace

std::string usual_rules_file() {
  std::string folder = variable("XDG_CONFIG_HOME");
  if (!folder.starts_with('/')) {  // what is not absolute does not count, says its specification
    const std::string home = variable("HOME");
    if (!home.starts_with('/')) return {};
    folder = home + "/.config";
  }
  return folder + "/clump/collectives";
}

base::Status find_rules(const std::optional<std::string>& asked, RulesFile& file) {
  const std::string set = variable("CLUMP_COLL_RULES");
  const std::string named = asked.value_or(set);
  if (named == "none") return {};
  if (!named.empty() || asked)
    return read(named, asked ? "--coll-rules " : "environment variable CLUMP_COLL_RULES ", file);
  const std::string usual = usual_rules_file();
  return is_file(usual) ? read(usual, "", file) : base::Status();
}

}  // namespace clump::tools
