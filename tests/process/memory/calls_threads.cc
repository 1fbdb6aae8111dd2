// Threads, their cores and keys, and sleep.
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"


namespace calls {
namespace {

cpu_set_t cores;
sched_param plain{};
char thread_name[16];
const timespec moment{0, 1};
pthread_key_t key;
tss_t c_key;

void* end_at_once(void*) { return nullptr; }
int end_at_once_too(void*) { return 0; }

void start_and_join() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, end_at_once, nullptr) == 0) pthread_join(thread, nullptr);
}
void start_and_join_c() {
  thrd_t thread;
  if (thrd_create(&thread, end_at_once_too, nullptr) == thrd_success) thrd_join(thread, nullptr);
}
void make_and_delete_key() {
  if (pthread_key_create(&key, nullptr) == 0) pthread_key_delete(key);
}
void make_and_delete_c_key() {
  if (tss_create(&c_key, nullptr) == thrd_success) tss_delete(c_key);
}
void ask_attributes() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) pthread_attr_destroy(&attributes);
}
void name_as_before() {
  pthread_getname_np(pthread_self(), thread_name, sizeof thread_name);
  pthread_setname_np(pthread_self(), thread_name);
}
void keep_cores() {
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) sched_setaffinity(0, sizeof cores, &cores);
}

const Row kRows[] = {
    {"pthread_create", start_and_join},
    {"pthread_join", start_and_join},
    {"thrd_create", start_and_join_c},
    {"thrd_join", start_and_join_c},
    {"gettid", [] { gettid(); }},
    {"pthread_getattr_np", ask_attributes},
    {"pthread_getname_np", [] { pthread_getname_np(pthread_self(), thread_name, sizeof thread_name); }},
    {"pthread_setname_np", name_as_before},
    {"pthread_setschedparam", [] { pthread_setschedparam(pthread_self(), SCHED_OTHER, &plain); }},
    {"prctl", [] { prctl(PR_GET_DUMPABLE); }},
    // Keys.
    {"pthread_key_create", make_and_delete_key},
    {"pthread_key_delete", make_and_delete_key},
    {"tss_create", make_and_delete_c_key},
    {"tss_delete", make_and_delete_c_key},
    // Cores.
    {"sched_getaffinity", [] { sched_getaffinity(0, sizeof cores, &cores); }},
    {"sched_setaffinity", keep_cores},
    {"get_nprocs", [] { get_nprocs(); }},
    {"sysconf", [] { sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_PAGESIZE); }},
    // Sleep.
    {"sched_yield", [] { sched_yield(); }},
    {"pthread_yield", nullptr, kSame},
    {"thrd_yield", [] { thrd_yield(); }},
    {"nanosleep", [] { nanosleep(&moment, nullptr); }},
    {"clock_nanosleep", [] { clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr); }},
    {"usleep", [] { usleep(1); }},
    {"sleep", [] { sleep(0); }},
    {"thrd_sleep", [] { thrd_sleep(&moment, nullptr); }},
};

}  // namespace

std::span<const Row> of_threads() { return kRows; }

}  // namespace calls
