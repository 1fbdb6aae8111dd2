// Signals that tell of messages in a queue and of the end of output (mq_notify, aio_write). Right: each comes
// to the rank that has asked for it, once.
#include "check.h"

#include <aio.h>
#include <mqueue.h>
#include <signal.h>

static volatile sig_atomic_t messages, outputs;

static void on_message(int number) {
  (void)number;
  ++messages;
}
static void on_output(int number) {
  (void)number;
  ++outputs;
}

static void wait_for(const volatile sig_atomic_t* count) {
  for (int i = 0; i < 10000 && *count == 0; ++i) usleep(10000);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  signal(SIGRTMIN, on_message);
  signal(SIGRTMIN + 1, on_output);
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 16};
  const char* const name = strrchr(folder, '/');
  const mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  step();
  if (queue != (mqd_t)-1) {  // some containers have no queues
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    mq_notify(queue, &event);
    mq_send(queue, "x", 1, 0);
    wait_for(&messages);
    mq_close(queue);
    mq_unlink(name);
  }
  char path[96];
  snprintf(path, sizeof path, "%s/output", folder);
  struct aiocb block = {.aio_buf = folder, .aio_nbytes = 4};
  block.aio_fildes = open(path, O_CREAT | O_RDWR, 0600);
  block.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
  check(aio_write(&block) == 0, "aio_write: %s", strerror(errno));
  wait_for(&outputs);
  step();
  check(queue == (mqd_t)-1 || messages == 1, "%d signals for a message", (int)messages);
  check(outputs == 1, "%d signals for an output", (int)outputs);
  return end();
}
