// The locale of each rank. The process keeps the locale that it began with, "C". What a rank sets with
// setlocale() is a locale object that the rank's threads use (uselocale() acts on the thread itself, so it
// follows a fiber). To the rank it looks like the process's locale, LC_GLOBAL_LOCALE. Threads that already
// run when the rank calls setlocale() keep the locale that they have.
#undef __OPTIMIZE__  // with which <libintl.h> makes macros of functions
#include <fmt/format.h>
#include <libintl.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/libc/rank_locale.h"
#include "process/rank_state.h"
#include "process/refusal.h"

namespace clump::image {
namespace {

struct Category {
  int number;
  const char* name;
};

/// In the order in which setlocale(LC_ALL, NULL) prints them.
constexpr std::array kCategories{
    Category{LC_CTYPE, "LC_CTYPE"},
    Category{LC_NUMERIC, "LC_NUMERIC"},
    Category{LC_TIME, "LC_TIME"},
    Category{LC_COLLATE, "LC_COLLATE"},
    Category{LC_MONETARY, "LC_MONETARY"},
    Category{LC_MESSAGES, "LC_MESSAGES"},
    Category{LC_PAPER, "LC_PAPER"},
    Category{LC_NAME, "LC_NAME"},
    Category{LC_ADDRESS, "LC_ADDRESS"},
    Category{LC_TELEPHONE, "LC_TELEPHONE"},
    Category{LC_MEASUREMENT, "LC_MEASUREMENT"},
    Category{LC_IDENTIFICATION, "LC_IDENTIFICATION"},
};
using Names = std::array<std::string, kCategories.size()>;

locale_t real_use(locale_t locale) {
  static constinit Hidden<locale_t(locale_t)> real{"uselocale"};
  return real(locale);
}

locale_t real_new(int mask, const char* name, locale_t base) {
  static constinit Hidden<locale_t(int, const char*, locale_t)> real{"newlocale"};
  return real(mask, name, base);
}

/// The index of a category's number; -1 if there is no such category.
int index_of(int category) {
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    if (kCategories[i].number == category) return static_cast<int>(i);
  }
  return -1;
}

/// The name of a locale; for "" the one that the rank's environment sets.
std::string resolved(const Category& category, std::string_view name) {
  if (name.empty()) {
    for (const char* variable : {"LC_ALL", category.name, "LANG"}) {
      const char* const value = std::getenv(variable);
      if (value == nullptr || *value == '\0') continue;
      name = value;
      break;
    }
  }
  return std::string(name.empty() || name == "POSIX" ? "C" : name);
}

/// One name, if all are the same; otherwise "LC_CTYPE=a;LC_NUMERIC=b;...".
std::string together(const Names& names) {
  std::string all;
  bool same = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    all.append(i == 0 ? "" : ";").append(kCategories[i].name).append("=").append(names[i]);
    same = same && names[i] == names[0];
  }
  return same ? names[0] : all;
}

/// The reverse of together(); false if `text` is neither a name nor such a list.
bool take_apart(std::string_view text, Names& names) {
  if (text.find(';') == std::string_view::npos) {
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = resolved(kCategories[i], text);
    return true;
  }
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    std::size_t i = 0;
    while (i < kCategories.size() && part.substr(0, equals) != kCategories[i].name) ++i;
    if (equals == std::string_view::npos || i == kCategories.size()) return false;
    names[i] = resolved(kCategories[i], part.substr(equals + 1));
  }
  return true;
}

/// Makes a locale object; null if the system has no locale of one of the names.
locale_t make_locale(const Names& names) {
  locale_t made = real_new(LC_ALL_MASK, "C", nullptr);
  for (std::size_t i = 0; made != nullptr && i < names.size(); ++i) {
    if (names[i] == "C") continue;
    const locale_t changed = real_new(1 << kCategories[i].number, names[i].c_str(), made);
    if (changed == nullptr) freelocale(made);
    made = changed;
  }
  return made;
}

}  // namespace

struct LocaleState {
  RankMutex lock;
  Names names;
  locale_t locale = nullptr;  ///< null until the rank sets one
  /// All locales that the rank has set. They are kept: threads may use them, and programs switch between two.
  std::vector<std::pair<std::string, locale_t>> made;
  std::array<std::string, kCategories.size() + 1> answers;  ///< what setlocale() has returned
  lconv conventions{};
  std::string domain = "messages";

  LocaleState() { names.fill("C"); }

  bool has_made(locale_t locale) const {
    for (const auto& [name, its] : made) {
      if (its == locale) return true;
    }
    return false;
  }

  char* answer(int index) {
    std::string& text = answers[static_cast<std::size_t>(index + 1)];
    text = index < 0 ? together(names) : names[static_cast<std::size_t>(index)];
    return text.data();
  }

  /// Sets the rank's locale. False, and nothing has changed, if there is no such locale.
  bool set(Names wanted) {
    const std::string name = together(wanted);
    locale_t found = nullptr;
    for (const auto& [known, its] : made) {
      if (known == name) found = its;
    }
    if (found == nullptr) {
      found = make_locale(wanted);
      if (found == nullptr) return false;
      made.emplace_back(name, found);
    }
    const locale_t in_use = real_use(nullptr);
    if (in_use == LC_GLOBAL_LOCALE || has_made(in_use)) real_use(found);
    names = std::move(wanted);
    locale = found;
    return true;
  }
};

namespace {

constinit PerRank<LocaleState> kept;

/// The rank's locale; null if it has set none.
locale_t rank_locale() {
  const LocaleState* const state = captured() ? kept.made_of() : nullptr;
  return state != nullptr ? state->locale : nullptr;
}

char* set_locale(int category, const char* name) {
  LocaleState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  const int index = index_of(category);
  if (index < 0 && category != LC_ALL) return nullptr;
  if (name == nullptr) return state.answer(index);
  Names wanted = state.names;
  if (index >= 0) {
    wanted[static_cast<std::size_t>(index)] = resolved(kCategories[static_cast<std::size_t>(index)], name);
  } else if (!take_apart(name, wanted)) {
    return nullptr;
  }
  return state.set(std::move(wanted)) ? state.answer(index) : nullptr;
}

/// The domain of messages; if a function is given none, the rank's.
const char* domain_or(const char* domain) {
  if (domain != nullptr || !captured()) return domain;
  const LocaleState* const state = kept.made_of();
  return state != nullptr ? state->domain.c_str() : nullptr;
}

/// A setting of a domain of messages, which ranks have made for the process.
struct SetForAll {
  std::string kind, domain, value;
  const Image* by;
  bool by_others = false;  ///< other ranks have set the same
};

/// Ends the job if another rank has set a different value.
void check_for_all(const char* domain, const char* value, const char* kind) {
  if (!captured() || domain == nullptr || *domain == '\0' || value == nullptr) return;
  static constinit ForkMutex lock;
  static auto& all = *new std::vector<SetForAll>;
  const Image* const mine = &current_image();
  const std::scoped_lock hold(lock);
  for (SetForAll& one : all) {
    if (one.kind != kind || one.domain != domain) continue;
    if (one.value == value) {
      one.by_others |= one.by != mine;
      return;
    }
    if (one.by != mine || one.by_others)
      refuse(fmt::format("{}(\"{}\", \"{}\")", kind, domain, value),
             fmt::format("changes what another rank has set (\"{}\") for the process", one.value));
    one.value = value;
    return;
  }
  all.push_back({kind, domain, value, mine});
}

}  // namespace

void use_rank_locale() {
  if (const locale_t locale = rank_locale()) real_use(locale);
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API char* setlocale(int category, const char* name) noexcept {
  static constinit Hidden<char*(int, const char*)> real{"setlocale"};
  if (!captured()) return real(category, name);
  const NoFork no_fork;
  return set_locale(category, name);
}

CLUMP_HOST_API locale_t uselocale(locale_t locale) noexcept {
  if (!captured()) return real_use(locale);
  LocaleState* const state = kept.made_of();
  if (state == nullptr) return real_use(locale);
  const std::scoped_lock lock(state->lock);
  if (state->locale == nullptr) return real_use(locale);
  const locale_t before = real_use(locale == LC_GLOBAL_LOCALE ? state->locale : locale);
  return state->has_made(before) ? LC_GLOBAL_LOCALE : before;
}

CLUMP_HOST_API locale_t duplocale(locale_t locale) noexcept {
  static constinit Hidden<locale_t(locale_t)> real{"duplocale"};
  const NoFork no_fork;
  const locale_t set = locale == LC_GLOBAL_LOCALE ? rank_locale() : nullptr;
  return real(set != nullptr ? set : locale);
}

/// An empty name means the environment; the C library would use the first rank's.
CLUMP_HOST_API locale_t newlocale(int mask, const char* name, locale_t base) noexcept {
  const NoFork no_fork;
  if (!captured() || current_image().native() || name == nullptr || *name != '\0')
    return real_new(mask, name, base);
  locale_t made = base;
  for (const Category& category : kCategories) {
    if ((mask & 1 << category.number) == 0) continue;
    const locale_t changed = real_new(1 << category.number, resolved(category, name).c_str(), made);
    if (changed == nullptr) {
      if (made != base) freelocale(made);
      return nullptr;
    }
    made = changed;
  }
  return made;
}

CLUMP_HOST_API lconv* localeconv() noexcept {
  static constinit Hidden<lconv*()> real{"localeconv"};
  if (!captured()) return real();
  static constinit ForkMutex one_at_a_time;  // the C library returns its answer in memory of its own
  const std::scoped_lock lock(one_at_a_time);
  lconv& conventions = kept.of().conventions;
  conventions = *real();
  return &conventions;
}

CLUMP_HOST_API char* textdomain(const char* domain) noexcept {
  static constinit Hidden<char*(const char*)> real{"textdomain"};
  if (!captured()) return real(domain);
  LocaleState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  if (domain != nullptr) state.domain = *domain != '\0' ? domain : "messages";
  return state.domain.data();
}

/// The folder of a domain's messages belongs to the process: all ranks may set the same one, as all copies of
/// a program do.
CLUMP_HOST_API char* bindtextdomain(const char* domain, const char* folder) noexcept {
  static constinit Hidden<char*(const char*, const char*)> real{"bindtextdomain"};
  check_for_all(domain, folder, "bindtextdomain");
  return real(domain, folder);
}
CLUMP_HOST_API char* bind_textdomain_codeset(const char* domain, const char* codeset) noexcept {
  static constinit Hidden<char*(const char*, const char*)> real{"bind_textdomain_codeset"};
  check_for_all(domain, codeset, "bind_textdomain_codeset");
  return real(domain, codeset);
}

CLUMP_HOST_API char* dcgettext(const char* domain, const char* text, int category) noexcept {
  static constinit Hidden<char*(const char*, const char*, int)> real{"dcgettext"};
  return real(domain_or(domain), text, category);
}
CLUMP_HOST_API char* dgettext(const char* domain, const char* text) noexcept {
  return dcgettext(domain, text, LC_MESSAGES);
}
CLUMP_HOST_API char* gettext(const char* text) noexcept { return dcgettext(nullptr, text, LC_MESSAGES); }

CLUMP_HOST_API char* dcngettext(const char* domain, const char* one, const char* many, unsigned long count,
                                int category) noexcept {
  static constinit Hidden<char*(const char*, const char*, const char*, unsigned long, int)> real{
      "dcngettext"};
  return real(domain_or(domain), one, many, count, category);
}
CLUMP_HOST_API char* dngettext(const char* domain, const char* one, const char* many,
                               unsigned long count) noexcept {
  return dcngettext(domain, one, many, count, LC_MESSAGES);
}
CLUMP_HOST_API char* ngettext(const char* one, const char* many, unsigned long count) noexcept {
  return dcngettext(nullptr, one, many, count, LC_MESSAGES);
}

}  // extern "C"
