// What the C library keeps between calls, or returns in memory of its own.
#undef __OPTIMIZE__  // with which <libintl.h> makes macros of functions
#include <aliases.h>
#include <grp.h>
#include <libintl.h>
#include <locale.h>
#include <math.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <nss.h>
#include <printf.h>
#include <pwd.h>
#include <search.h>
#include <shadow.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>

#include "calls.h"

extern "C" {
void __syslog_chk(int, int, const char*, ...);
void __vsyslog_chk(int, int, const char*, va_list);
char* cuserid(char*);
// <math.h> has them for C only.
double gamma(double);
float gammaf(float);
long double gammal(long double);
}

namespace calls {
namespace {

char words[128];
char text[] = "a b";
char key[] = "key";
char room[1024];
wchar_t wide[8];
char16_t wide16;
char32_t wide32;
const char* source;
const wchar_t* wide_source;
int point, sign;
unsigned short numbers[7] = {1, 2, 3, 4, 5, 6, 7};
const time_t when = 0;
tm broken_down;
passwd user, *found_user;
group users, *found_users;
ether_addr ether;

void other_state_and_back() {
  char* const before = initstate(1, words, sizeof words);
  if (before != nullptr) setstate(before);
}

/// Lets the functions that ask for names look into files: no library is loaded for it.
void ask_files() {
  for (const char* database : {"aliases", "group", "networks", "passwd", "protocols", "services", "shadow"})
    __nss_configure_lookup(database, "files");
}

void find_in_table() { hsearch({key, nullptr}, FIND); }
void with_table(void (*use)()) {
  if (hcreate(4) == 0) return;
  use();
  hdestroy();
}

/// A message that the log's mask keeps out.
void log(void (*function)(int, const char*, va_list), const char* format, ...) {
  const int before = setlogmask(LOG_MASK(LOG_EMERG));
  va_list arguments;
  va_start(arguments, format);
  function(LOG_DEBUG, format, arguments);
  va_end(arguments);
  setlogmask(before);
}
void plain_syslog(int priority, const char*, va_list) { syslog(priority, "%d", 1); }
void checked_syslog(int priority, const char*, va_list) { __syslog_chk(priority, 1, "%d", 1); }
void checked_vsyslog(int priority, const char* format, va_list arguments) {
  __vsyslog_chk(priority, 1, format, arguments);
}

void take_nothing(void*, va_list*) {}

const Row kRows[] = {
    // Random numbers.
    {"rand", [] { rand(); }},
    {"random", [] { random(); }},
    {"initstate", other_state_and_back},
    {"setstate", other_state_and_back},
    {"srand", [] { srand(1); }},
    {"srandom", [] { srandom(1); }},
    {"drand48", [] { drand48(); }},
    {"lrand48", [] { lrand48(); }},
    {"mrand48", [] { mrand48(); }},
    {"erand48", [] { erand48(numbers); }},
    {"nrand48", [] { nrand48(numbers); }},
    {"jrand48", [] { jrand48(numbers); }},
    {"srand48", [] { srand48(1); }},
    {"seed48", [] { seed48(numbers); }},
    {"lcong48", [] { lcong48(numbers); }},
    // Time.
    {"localtime", [] { localtime(&when); }},
    {"localtime_r", [] { localtime_r(&when, &broken_down); }},
    {"gmtime", [] { gmtime(&when); }},
    {"gmtime_r", [] { gmtime_r(&when, &broken_down); }},
    {"asctime", [] { asctime(gmtime_r(&when, &broken_down)); }},
    {"ctime", [] { ctime(&when); }},
    {"ctime_r", [] { ctime_r(&when, room); }},
    {"mktime", [] { mktime(gmtime_r(&when, &broken_down)); }},
    {"strftime", [] { strftime(room, sizeof room, "%s", gmtime_r(&when, &broken_down)); }},
    {"tzset", [] { tzset(); }},
    // Words, characters, numbers.
    {"strtok", [] { strtok(text, " "), strtok(nullptr, " "); }},
    {"strptime", [] { strptime("1", "%s", &broken_down); }},
    {"mbtowc", [] { mbtowc(wide, "a", 1); }},
    {"mblen", [] { (void)!mblen("a", 1); }},
    {"wctomb", [] { (void)!wctomb(room, L'a'); }},
    {"wcrtomb", [] { wcrtomb(room, L'a', nullptr); }},
    {"c32rtomb", [] { c32rtomb(room, U'a', nullptr); }},
    {"mbsrtowcs", [] { source = "a", mbsrtowcs(wide, &source, 8, nullptr); }},
    {"wcsrtombs", [] { wide_source = L"a", wcsrtombs(room, &wide_source, 8, nullptr); }},
    {"wcsnrtombs", [] { wide_source = L"a", wcsnrtombs(room, &wide_source, 1, 8, nullptr); }},
    {"__mbsrtowcs_chk", nullptr, kSame},
    {"__mbsnrtowcs_chk", nullptr, kSame},
    {"__wcrtomb_chk", nullptr, kSame},
    {"__wcsrtombs_chk", nullptr, kSame},
    {"__wcsnrtombs_chk", nullptr, kSame},
    {"__wctomb_chk", nullptr, kSame},
    {"mbrlen", [] { mbrlen("a", 1, nullptr); }},
    {"mbrtowc", [] { mbrtowc(wide, "a", 1, nullptr); }},
    {"mbsnrtowcs", [] { source = "a", mbsnrtowcs(wide, &source, 1, 8, nullptr); }},
    {"mbrtoc16", [] { mbrtoc16(&wide16, "a", 1, nullptr); }},
    {"mbrtoc32", [] { mbrtoc32(&wide32, "a", 1, nullptr); }},
    {"c16rtomb", [] { c16rtomb(room, u'a', nullptr); }},
    {"ecvt", [] { ecvt(1.5, 3, &point, &sign); }},
    {"fcvt", [] { fcvt(1.5, 3, &point, &sign); }},
    {"qecvt", [] { qecvt(1.5L, 3, &point, &sign); }},
    {"qfcvt", [] { qfcvt(1.5L, 3, &point, &sign); }},
    {"l64a", [] { l64a(64); }},
    {"lgamma", [] { (void)lgamma(-0.5); }},
    {"lgammaf", [] { (void)lgammaf(-0.5F); }},
    {"lgammal", [] { (void)lgammal(-0.5L); }},
    {"gamma", [] { (void)gamma(-0.5); }},
    {"gammaf", [] { (void)gammaf(-0.5F); }},
    {"gammal", [] { (void)gammal(-0.5L); }},
    {"hcreate", [] { with_table([] {}); }},
    {"hdestroy", [] { with_table([] {}); }},
    {"hsearch", [] { with_table(find_in_table); }},
    // Locales and formats.
    {"setlocale", [] { setlocale(LC_ALL, nullptr); }},
    {"localeconv", [] { localeconv(); }},
    {"newlocale", [] { newlocale(LC_ALL_MASK, "C", nullptr); }},
    {"duplocale", [] { freelocale(duplocale(LC_GLOBAL_LOCALE)); }},
    {"uselocale", [] { uselocale(nullptr); }},
    {"textdomain", [] { textdomain(nullptr); }},
    {"gettext", [] { gettext("a"); }},
    {"dgettext", [] { dgettext("none", "a"); }},
    {"dcgettext", [] { dcgettext("none", "a", LC_MESSAGES); }},
    {"ngettext", [] { ngettext("a", "b", 1); }},
    {"dngettext", [] { dngettext("none", "a", "b", 1); }},
    {"dcngettext", [] { dcngettext("none", "a", "b", 1, LC_MESSAGES); }},
    {"register_printf_function", [] { register_printf_function('Y', nullptr, nullptr); }},
    {"register_printf_specifier", [] { register_printf_specifier('Y', nullptr, nullptr); }},
    {"register_printf_modifier", [] { register_printf_modifier(L"YY"); }},
    {"register_printf_type", [] { register_printf_type(take_nothing); }},
    // The system's log.
    {"openlog", [] { openlog("program", LOG_ODELAY, LOG_USER); }},
    {"closelog", [] { closelog(); }},
    {"setlogmask", [] { setlogmask(0); }},
    {"syslog", [] { log(plain_syslog, ""); }},
    {"vsyslog", [] { log(vsyslog, "%d", 1); }},
    {"__syslog_chk", [] { log(checked_syslog, ""); }},
    {"__vsyslog_chk", [] { log(checked_vsyslog, "%d", 1); }},
    // Names of users, groups, networks.
    {"getpwnam", [] { ask_files(), getpwnam("nobody there"); }},
    {"getpwuid", [] { getpwuid(0); }},
    {"getpwnam_r", [] { getpwnam_r("nobody there", &user, room, sizeof room, &found_user); }},
    {"getpwuid_r", [] { getpwuid_r(0, &user, room, sizeof room, &found_user); }},
    {"setpwent", [] { setpwent(); }},
    {"getpwent", [] { getpwent(); }},
    {"getpwent_r", [] { getpwent_r(&user, room, sizeof room, &found_user); }},
    {"endpwent", [] { endpwent(); }},
    {"getgrnam", [] { getgrnam("nobody there"); }},
    {"getgrgid", [] { getgrgid(0); }},
    {"getgrnam_r", [] { getgrnam_r("nobody there", &users, room, sizeof room, &found_users); }},
    {"getgrgid_r", [] { getgrgid_r(0, &users, room, sizeof room, &found_users); }},
    {"setgrent", [] { setgrent(); }},
    {"getgrent", [] { getgrent(); }},
    {"getgrent_r", [] { getgrent_r(&users, room, sizeof room, &found_users); }},
    {"endgrent", [] { endgrent(); }},
    {"getspnam", [] { getspnam("nobody there"); }},
    {"sgetspent", [] { sgetspent("name:*:1:0:9:7:::"); }},
    {"fgetpwent", nullptr, kFile},
    {"fgetgrent", nullptr, kFile},
    {"fgetspent", nullptr, kFile},
    {"getmntent", nullptr, kFile},
    {"getaliasbyname", [] { getaliasbyname("nobody there"); }},
    {"getlogin", [] { getlogin(); }},
    {"cuserid", [] { cuserid(room); }},
    {"gethostbyname", [] { gethostbyname("127.0.0.1"); }},
    {"gethostbyname2", [] { gethostbyname2("127.0.0.1", AF_INET); }},
    {"getaddrinfo", nullptr, kAllocates},
    {"getnameinfo", nullptr, kAllocates},
    {"iconv_open", nullptr, kAllocates},
    {"iconv_close", nullptr, kAllocates},
    {"gethostbyaddr", nullptr, "asks a server of names"},
    {"getnetbyname", [] { getnetbyname("no network"); }},
    {"getnetbyaddr", [] { getnetbyaddr(127, AF_INET); }},
    {"getservbyname", [] { getservbyname("no service", "tcp"); }},
    {"getservbyport", [] { getservbyport(1, "tcp"); }},
    {"getprotobyname", [] { getprotobyname("no protocol"); }},
    {"getprotobynumber", [] { getprotobynumber(6); }},
    {"ether_ntoa", [] { ether_ntoa(&ether); }},
    {"ether_aton", [] { ether_aton("1:2:3:4:5:6"); }},
};

}  // namespace

std::span<const Row> of_state() { return kRows; }

}  // namespace calls
