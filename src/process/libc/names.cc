// Answers about users, groups, hosts, services, ... that the C library keeps in its own memory: kept for each
// rank here. Each of these functions has a form with _r, which takes the memory as arguments.
#include <aliases.h>
#include <grp.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <shadow.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <vector>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {

/// The answer of one function, valid until the next call of it or of a related function.
template <typename Entry>
struct Answer {
  Entry entry{};
  std::vector<char> text;
};

/// A list that a rank steps through, as it was at the first step.
template <typename Entry>
struct Listed {
  std::vector<Answer<Entry>> all;
  bool is_read = false;
  std::size_t seen = 0;  ///< how many of them the rank has had

  void end() { *this = {}; }
};

struct NamesState {
  RecursiveRankMutex lock;  // recursive: a source of names may call other functions here
  Answer<passwd> user;
  Answer<group> group_of_users;
  Listed<passwd> users;  // of getpwent()
  Listed<group> groups;  // of getgrent()
  Answer<spwd> shadow;
  Answer<hostent> host;
  Answer<netent> network;
  Answer<servent> service;
  Answer<protoent> protocol;
  Answer<aliasent> alias;
  Answer<mntent> mount;
  char ether_text[18] = {};
  ether_addr ether{};
  char terminal[PATH_MAX] = {};
  char pseudo_terminal[PATH_MAX] = {};
  char login[LOGIN_NAME_MAX + 1] = {};
};

namespace {

constinit PerRank<NamesState> kept;

constexpr std::size_t kFirstSize = 1024;

/// Calls a function with _r, with more and more memory until it is enough. `ask` takes the entry, the memory
/// and the place for the result; it returns 0 or an error number.
template <typename Entry, typename Ask>
Entry* answer(Answer<Entry> NamesState::*kind, Ask ask) {
  NamesState& state = kept.of();
  const NoFork no_fork;
  const std::scoped_lock lock(state.lock);
  Answer<Entry>& into = state.*kind;
  if (into.text.empty()) into.text.resize(kFirstSize);
  while (true) {
    Entry* result = nullptr;
    const int error = ask(&into.entry, into.text.data(), into.text.size(), &result);
    if (error == 0) return result;
    if (error != ERANGE) {
      if (error != ENOENT) errno = error;  // ENOENT is the end of a list
      return nullptr;
    }
    into.text.resize(into.text.size() * 2);
  }
}

/// Does what a function of the C library does, by its form with _r, `ask`. Before there are ranks it calls
/// the C library's own function and makes no NamesState: the caller may be an allocator that starts up.
template <typename Entry, typename... Args, typename Ask>
Entry* answer(Hidden<Entry*(Args...)>& real, Answer<Entry> NamesState::*kind, Ask ask,
              std::type_identity_t<Args>... args) {
  if (!captured()) return real(args...);
  return answer(kind, [&](auto... into) { return ask(args..., into...); });
}

/// The same for functions about networks, which also have a place for h_errno.
template <typename Entry, typename... Args, typename Ask>
Entry* answer_of_network(Hidden<Entry*(Args...)>& real, Answer<Entry> NamesState::*kind, Ask ask,
                         std::type_identity_t<Args>... args) {
  if (!captured()) return real(args...);
  return answer(kind, [&](auto... into) {
    const int error = ask(args..., into..., &h_errno);
    return error == ERANGE && h_errno != NETDB_INTERNAL ? 0 : error;
  });
}

/// A list that programs step through: of users, or of groups.
template <typename Entry>
struct List {
  void (*rewind)();
  int (*next)(Entry*, char*, std::size_t, Entry**);
  void (*close)();
};

constinit ForkMutex list_lock;  // the C library has one position in each list

// The texts of an entry are in the memory that was given for them.

void for_each_text(passwd& entry, auto visit) {
  for (char** text : {&entry.pw_name, &entry.pw_passwd, &entry.pw_gecos, &entry.pw_dir, &entry.pw_shell})
    visit(*text);
}
void for_each_text(group& entry, auto visit) {
  visit(entry.gr_name);
  visit(entry.gr_passwd);
  visit(entry.gr_mem);
  for (char** member = entry.gr_mem; member != nullptr && *member != nullptr; ++member) visit(*member);
}

std::size_t size_of(const char* text) { return std::strlen(text) + 1; }
std::size_t size_of(char* const* texts) {
  std::size_t count = 1;
  while (*texts++ != nullptr) ++count;
  return count * sizeof *texts;
}

/// How much of the memory from `begin` on an entry uses.
template <typename Entry>
std::size_t bytes_of(Entry entry, const char* begin, std::size_t most) {
  std::size_t bytes = 0;
  for_each_text(entry, [&](auto* text) {
    const auto* const place = reinterpret_cast<const char*>(text);
    if (place >= begin && place < begin + most)
      bytes = std::max(bytes, static_cast<std::size_t>(place - begin) + size_of(text));
  });
  return bytes;
}

/// Copies an entry, whose texts are in `bytes` bytes from `begin` on.
template <typename Entry>
void copy(const Entry& entry, const char* begin, std::size_t bytes, Entry& to, char* text_of_copy) {
  std::memcpy(text_of_copy, begin, bytes);
  to = entry;
  for_each_text(to, [&](auto*& text) {
    const auto* const place = reinterpret_cast<const char*>(text);
    if (place >= begin && place < begin + bytes)
      text = reinterpret_cast<std::remove_reference_t<decltype(text)>>(text_of_copy + (place - begin));
  });
}

template <typename Entry>
void read_all(const List<Entry>& list, std::vector<Answer<Entry>>& all) {
  const NoFork no_fork;
  const std::scoped_lock lock(list_lock);
  list.rewind();
  std::vector<char> room(kFirstSize);
  for (;;) {
    Entry entry{};
    Entry* result = nullptr;
    const int error = list.next(&entry, room.data(), room.size(), &result);
    if (error == ERANGE) {
      room.resize(room.size() * 2);
      continue;
    }
    if (error != 0 || result == nullptr) break;
    Answer<Entry>& kept = all.emplace_back();
    kept.text.resize(bytes_of(entry, room.data(), room.size()));
    copy(entry, room.data(), kept.text.size(), kept.entry, kept.text.data());
  }
  list.close();
}

/// The next entry. The C library has only one position in the list, and ranks step through it at the same
/// time: so the first step reads all of it.
template <typename Entry>
int step(const List<Entry>& list, Listed<Entry>& of_rank, Entry* entry, char* text, std::size_t size,
         Entry** result) {
  *result = nullptr;
  if (!of_rank.is_read) read_all(list, of_rank.all);
  of_rank.is_read = true;
  if (of_rank.seen == of_rank.all.size()) return ENOENT;
  const Answer<Entry>& next = of_rank.all[of_rank.seen];
  const std::size_t gap = -reinterpret_cast<std::uintptr_t>(text) % alignof(char*);
  if (size < gap + next.text.size()) return ERANGE;
  copy(next.entry, next.text.data(), next.text.size(), *entry, text + gap);
  ++of_rank.seen;
  *result = entry;
  return 0;
}

int next_user(passwd* entry, char* text, std::size_t size, passwd** result) {
  static constinit Hidden<void()> rewind{"setpwent"}, close{"endpwent"};
  static constinit Hidden<int(passwd*, char*, std::size_t, passwd**)> next{"getpwent_r"};
  NamesState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  return step<passwd>({*rewind, *next, *close}, state.users, entry, text, size, result);
}

int next_group(group* entry, char* text, std::size_t size, group** result) {
  static constinit Hidden<void()> rewind{"setgrent"}, close{"endgrent"};
  static constinit Hidden<int(group*, char*, std::size_t, group**)> next{"getgrent_r"};
  NamesState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  return step<group>({*rewind, *next, *close}, state.groups, entry, text, size, result);
}

/// The next step begins anew.
template <typename Entry>
void begin_anew(Listed<Entry> NamesState::*list) {
  NamesState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  (state.*list).end();
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

// Users and groups.

CLUMP_HOST_API passwd* getpwnam(const char* name) {
  static constinit Hidden<passwd*(const char*)> real{"getpwnam"};
  return answer(real, &NamesState::user, &getpwnam_r, name);
}
CLUMP_HOST_API passwd* getpwuid(uid_t user) {
  static constinit Hidden<passwd*(uid_t)> real{"getpwuid"};
  return answer(real, &NamesState::user, &getpwuid_r, user);
}
CLUMP_HOST_API passwd* fgetpwent(FILE* file) {
  static constinit Hidden<passwd*(FILE*)> real{"fgetpwent"};
  return answer(real, &NamesState::user, &fgetpwent_r, file);
}
CLUMP_HOST_API group* getgrnam(const char* name) {
  static constinit Hidden<group*(const char*)> real{"getgrnam"};
  return answer(real, &NamesState::group_of_users, &getgrnam_r, name);
}
CLUMP_HOST_API group* getgrgid(gid_t number) {
  static constinit Hidden<group*(gid_t)> real{"getgrgid"};
  return answer(real, &NamesState::group_of_users, &getgrgid_r, number);
}
CLUMP_HOST_API group* fgetgrent(FILE* file) {
  static constinit Hidden<group*(FILE*)> real{"fgetgrent"};
  return answer(real, &NamesState::group_of_users, &fgetgrent_r, file);
}
CLUMP_HOST_API spwd* getspnam(const char* name) {
  static constinit Hidden<spwd*(const char*)> real{"getspnam"};
  return answer(real, &NamesState::shadow, &getspnam_r, name);
}
CLUMP_HOST_API spwd* fgetspent(FILE* file) {
  static constinit Hidden<spwd*(FILE*)> real{"fgetspent"};
  return answer(real, &NamesState::shadow, &fgetspent_r, file);
}
CLUMP_HOST_API spwd* sgetspent(const char* line) {
  static constinit Hidden<spwd*(const char*)> real{"sgetspent"};
  return answer(real, &NamesState::shadow, &sgetspent_r, line);
}
CLUMP_HOST_API aliasent* getaliasbyname(const char* name) {
  static constinit Hidden<aliasent*(const char*)> real{"getaliasbyname"};
  return answer(real, &NamesState::alias, &getaliasbyname_r, name);
}

// Lists of users and groups.

CLUMP_HOST_API int getpwent_r(passwd* entry, char* text, size_t size, passwd** result) {
  static constinit Hidden<int(passwd*, char*, size_t, passwd**)> real{"getpwent_r"};
  return captured() ? next_user(entry, text, size, result) : real(entry, text, size, result);
}
CLUMP_HOST_API passwd* getpwent() {
  static constinit Hidden<passwd*()> real{"getpwent"};
  return answer(real, &NamesState::user, &next_user);
}
CLUMP_HOST_API void setpwent() {
  static constinit Hidden<void()> real{"setpwent"};
  if (!captured()) return real();
  begin_anew(&NamesState::users);
}
CLUMP_HOST_API void endpwent() {
  static constinit Hidden<void()> real{"endpwent"};
  if (!captured()) return real();
  begin_anew(&NamesState::users);
}
CLUMP_HOST_API int getgrent_r(group* entry, char* text, size_t size, group** result) {
  static constinit Hidden<int(group*, char*, size_t, group**)> real{"getgrent_r"};
  return captured() ? next_group(entry, text, size, result) : real(entry, text, size, result);
}
CLUMP_HOST_API group* getgrent() {
  static constinit Hidden<group*()> real{"getgrent"};
  return answer(real, &NamesState::group_of_users, &next_group);
}
CLUMP_HOST_API void setgrent() {
  static constinit Hidden<void()> real{"setgrent"};
  if (!captured()) return real();
  begin_anew(&NamesState::groups);
}
CLUMP_HOST_API void endgrent() {
  static constinit Hidden<void()> real{"endgrent"};
  if (!captured()) return real();
  begin_anew(&NamesState::groups);
}

// Networks.

CLUMP_HOST_API hostent* gethostbyname(const char* name) {
  static constinit Hidden<hostent*(const char*)> real{"gethostbyname"};
  return answer_of_network(real, &NamesState::host, &gethostbyname_r, name);
}
CLUMP_HOST_API hostent* gethostbyname2(const char* name, int family) {
  static constinit Hidden<hostent*(const char*, int)> real{"gethostbyname2"};
  return answer_of_network(real, &NamesState::host, &gethostbyname2_r, name, family);
}
CLUMP_HOST_API hostent* gethostbyaddr(const void* address, socklen_t size, int family) {
  static constinit Hidden<hostent*(const void*, socklen_t, int)> real{"gethostbyaddr"};
  return answer_of_network(real, &NamesState::host, &gethostbyaddr_r, address, size, family);
}
CLUMP_HOST_API netent* getnetbyname(const char* name) {
  static constinit Hidden<netent*(const char*)> real{"getnetbyname"};
  return answer_of_network(real, &NamesState::network, &getnetbyname_r, name);
}
CLUMP_HOST_API netent* getnetbyaddr(std::uint32_t network, int family) {
  static constinit Hidden<netent*(std::uint32_t, int)> real{"getnetbyaddr"};
  return answer_of_network(real, &NamesState::network, &getnetbyaddr_r, network, family);
}
CLUMP_HOST_API servent* getservbyname(const char* name, const char* protocol) {
  static constinit Hidden<servent*(const char*, const char*)> real{"getservbyname"};
  return answer(real, &NamesState::service, &getservbyname_r, name, protocol);
}
CLUMP_HOST_API servent* getservbyport(int port, const char* protocol) {
  static constinit Hidden<servent*(int, const char*)> real{"getservbyport"};
  return answer(real, &NamesState::service, &getservbyport_r, port, protocol);
}
CLUMP_HOST_API protoent* getprotobyname(const char* name) {
  static constinit Hidden<protoent*(const char*)> real{"getprotobyname"};
  return answer(real, &NamesState::protocol, &getprotobyname_r, name);
}
CLUMP_HOST_API protoent* getprotobynumber(int number) {
  static constinit Hidden<protoent*(int)> real{"getprotobynumber"};
  return answer(real, &NamesState::protocol, &getprotobynumber_r, number);
}
CLUMP_HOST_API char* ether_ntoa(const ether_addr* address) noexcept {
  static constinit Hidden<char*(const ether_addr*)> real{"ether_ntoa"};
  return captured() ? ether_ntoa_r(address, kept.of().ether_text) : real(address);
}
CLUMP_HOST_API ether_addr* ether_aton(const char* text) noexcept {
  static constinit Hidden<ether_addr*(const char*)> real{"ether_aton"};
  return captured() ? ether_aton_r(text, &kept.of().ether) : real(text);
}

// Files and terminals.

CLUMP_HOST_API mntent* getmntent(FILE* file) noexcept {
  static constinit Hidden<mntent*(FILE*)> real{"getmntent"};
  if (!captured()) return real(file);
  NamesState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  state.mount.text.resize(4096);  // longer lines are cut, as by the C library
  return getmntent_r(file, &state.mount.entry, state.mount.text.data(),
                     static_cast<int>(state.mount.text.size()));
}

CLUMP_HOST_API char* ttyname(int descriptor) noexcept {
  static constinit Hidden<char*(int)> real{"ttyname"};
  if (!captured()) return real(descriptor);
  char* const name = kept.of().terminal;
  const int error = ttyname_r(descriptor, name, PATH_MAX);
  if (error == 0) return name;
  errno = error;
  return nullptr;
}

CLUMP_HOST_API char* ptsname(int descriptor) noexcept {
  static constinit Hidden<char*(int)> real{"ptsname"};
  if (!captured()) return real(descriptor);
  char* const name = kept.of().pseudo_terminal;
  return ptsname_r(descriptor, name, PATH_MAX) == 0 ? name : nullptr;
}

CLUMP_HOST_API char* getlogin() {
  static constinit Hidden<char*()> real{"getlogin"};
  if (!captured()) return real();
  char* const name = kept.of().login;
  const int error = getlogin_r(name, LOGIN_NAME_MAX);
  if (error == 0) return name;
  errno = error;
  return nullptr;
}

CLUMP_HOST_API char* cuserid(char* name) {
  static constinit Hidden<char*(char*)> real{"cuserid"};
  if (!captured()) return real(name);
  char* const into = name != nullptr ? name : kept.of().login;
  const passwd* const user = getpwuid(geteuid());
  std::memset(into, 0, L_cuserid);
  if (user == nullptr) return name == nullptr ? nullptr : into;
  std::strncpy(into, user->pw_name, L_cuserid - 1);
  return into;
}

}  // extern "C"
