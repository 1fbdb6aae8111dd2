// Functions in which the C library opens descriptors by itself, and those that print.
#include <fcntl.h>
#include <libintl.h>
#include <mqueue.h>
#include <pty.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "calls.h"

// Which no header has for C++, or only some have.
extern "C" {
int pidfd_open(pid_t, unsigned);
int pidfd_getfd(int, int, unsigned);
}

namespace calls {
namespace {

constexpr const char* kPrints = "prints to the job's output";

char no_pattern[] = "/no/such/folder/none";
wchar_t wide_room[8];
msghdr no_message{};
mmsghdr no_messages[1];
file_handle no_handle{};
int master, slave;

void close_made(int descriptor) {
  if (descriptor >= 0) syscall(SYS_close, descriptor);
}

const Row kRows[] = {
    {"mkstemp", [] { close_made(mkstemp(no_pattern)); }},
    {"mkostemp", [] { close_made(mkostemp(no_pattern, 0)); }},
    {"mkstemps", [] { close_made(mkstemps(no_pattern, 1)); }},
    {"mkostemps", [] { close_made(mkostemps(no_pattern, 1, 0)); }},
    {"tmpfile", nullptr, kFile},
    {"opendir", nullptr, kFile},
    {"closedir", nullptr, kFile},
    {"setmntent", nullptr, kFile},
    {"endmntent", nullptr, kFile},
    {"fopencookie", nullptr, kFile},
    {"fmemopen", nullptr, kFile},
    {"open_memstream", nullptr, kFile},
    {"open_wmemstream", nullptr, kFile},
    {"_flushlbf", [] { _flushlbf(); }},
    {"fcloseall", nullptr, "makes the streams of the process unbuffered"},
    {"epoll_create", [] { close_made(epoll_create(0)); }},
    {"epoll_create1", [] { close_made(epoll_create1(-1)); }},
    {"eventfd", [] { close_made(eventfd(0, -1)); }},
    {"timerfd_create", [] { close_made(timerfd_create(CLOCK_MONOTONIC, -1)); }},
    {"memfd_create", [] { close_made(memfd_create("none", ~0U)); }},
    {"inotify_init", [] { close_made(inotify_init()); }},
    {"inotify_init1", [] { close_made(inotify_init1(-1)); }},
    {"fanotify_init", [] { close_made(fanotify_init(~0U, 0)); }},
    {"pidfd_open", [] { close_made(pidfd_open(-1, 0)); }},
    {"pidfd_getfd", [] { close_made(pidfd_getfd(kNone, kNone, 0)); }},
    {"open_by_handle_at", [] { close_made(open_by_handle_at(kNone, &no_handle, O_RDONLY)); }},
    {"posix_openpt", [] { close_made(posix_openpt(O_RDWR | O_NOCTTY)); }},
    {"getpt", [] { close_made(getpt()); }},
    {"openpty",
     [] {
       if (openpty(&master, &slave, nullptr, nullptr, nullptr) == 0) close_made(master), close_made(slave);
     }},
    {"recvmsg", [] { recvmsg(kNone, &no_message, 0); }},
    {"recvmmsg", [] { recvmmsg(kNone, no_messages, 1, 0, nullptr); }},
    {"mq_open", [] { mq_open("/no-such-queue", O_RDONLY); }},
    {"mq_close", [] { mq_close(kNone); }},
    {"bindtextdomain", [] { bindtextdomain("", "/"); }},
    {"bind_textdomain_codeset", [] { bind_textdomain_codeset("", "C"); }},
    {"strftime_l", nullptr, "needs a locale, whose making allocates"},
    {"wcsftime_l", nullptr, "needs a locale, whose making allocates"},
    {"strptime_l", nullptr, "needs a locale, whose making allocates"},
    {"wcsftime",
     [] {
       const tm epoch{};
       wcsftime(wide_room, 8, L"%H", &epoch);
     }},
    {"printf", nullptr, kPrints},
    {"vprintf", nullptr, kPrints},
    {"__printf_chk", nullptr, kPrints},
    {"__vprintf_chk", nullptr, kPrints},
    {"puts", nullptr, kPrints},
    {"putchar", nullptr, kPrints},
    {"putchar_unlocked", nullptr, kPrints},
    {"perror", nullptr, kPrints},
    {"error", nullptr, kPrints},
    {"error_at_line", nullptr, kPrints},
    {"warn", nullptr, kPrints},
    {"warnx", nullptr, kPrints},
    {"vwarn", nullptr, kPrints},
    {"vwarnx", nullptr, kPrints},
    {"err", nullptr, kEnds},
    {"errx", nullptr, kEnds},
    {"verr", nullptr, kEnds},
    {"verrx", nullptr, kEnds},
};

}  // namespace

std::span<const Row> of_makers() { return kRows; }

}  // namespace calls
