#include <string>

#include "commands.h"
#include "common/output.h"
#include "instruments/catalogue.h"

namespace clump::tools {

namespace {

using instruments::Entry;

/// Prints a heading where the category is another one than before.
class Headings {
 public:
  void before(const Entry& entry) {
    if (entry.category == current_ && any_) return;
    current_ = entry.category;
    any_ = true;
    const auto& category = instruments::categories()[static_cast<std::size_t>(current_)];
    print_out("{}: {}\n", category.name, category.description);
  }

 private:
  bool any_ = false;
  instruments::Category current_ = instruments::Category::kAll;
};

const char* name_of_class(int var_class) {
  switch (var_class) {
    case MPI_T_PVAR_CLASS_STATE:
      return "state";
    case MPI_T_PVAR_CLASS_LEVEL:
      return "level";
    case MPI_T_PVAR_CLASS_SIZE:
      return "size";
    case MPI_T_PVAR_CLASS_HIGHWATERMARK:
      return "high mark";
    case MPI_T_PVAR_CLASS_COUNTER:
      return "counter";
    default:
      return "aggregate";
  }
}

std::string items_of(const instruments::Enumeration& enumeration) {
  std::string text;
  for (const auto& item : enumeration.items) text += (text.empty() ? "" : ", ") + item.name;
  return text;
}

}  // namespace

int show_meters() {
  Headings headings;
  for (const instruments::Meter& meter : instruments::meters()) {
    headings.before(meter);
    print_out("  {:<34}{:<11}{}\n", meter.name, name_of_class(meter.var_class), meter.description);
  }
  return 0;
}

int show_controls() {
  Headings headings;
  for (const instruments::Control& control : instruments::controls()) {
    headings.before(control);
    print_out("  {:<34}{}\n", control.name, control.description);
    if (!control.can_be_set()) continue;
    const std::string values = control.enumeration != nullptr
                                   ? items_of(*control.enumeration)
                                   : fmt::format("{} to {}", control.least, control.most);
    print_out("  {:<34}{}: {}\n", "", control.environment(), values);
  }
  return 0;
}

int show_events() {
  Headings headings;
  for (const instruments::EventKind& kind : instruments::event_kinds()) {
    headings.before(kind);
    print_out("  {:<34}{} ({})\n", kind.name, kind.description, items_of(*kind.enumeration));
  }
  return 0;
}

}  // namespace clump::tools
