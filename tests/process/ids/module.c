// A character set for iconv_open(), which the C library opens by itself: code of the process, in no rank's
// program. It exists if this code gets the id of the process, as libfabric's connections need it, too.
#define _GNU_SOURCE
#include <gconv.h>
#include <sys/syscall.h>
#include <unistd.h>

int gconv_init(struct __gconv_step* step);
int gconv(struct __gconv_step* step, struct __gconv_step_data* data, const unsigned char** from,
          const unsigned char* end, unsigned char** to, size_t* irreversible, int flush, int consume);

int gconv_init(struct __gconv_step* step) {
  step->__min_needed_from = step->__max_needed_from = 1;
  step->__min_needed_to = step->__max_needed_to = 4;
  step->__stateful = 0;
  return getpid() == (pid_t)syscall(SYS_getpid) ? __GCONV_OK : __GCONV_NOCONV;
}

int gconv(struct __gconv_step* step, struct __gconv_step_data* data, const unsigned char** from,
          const unsigned char* end, unsigned char** to, size_t* irreversible, int flush, int consume) {
  (void)step, (void)data, (void)from, (void)end, (void)to, (void)irreversible, (void)flush, (void)consume;
  return __GCONV_ILLEGAL_INPUT;
}
