// For tests: fibers that a seed orders, in a process of their own.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "fiber/awake_threads.h"
#include "fiber/exploration.h"
#include "fiber/fiber.h"

namespace clump::fiber {

class ExploredRun {
 public:
  using Body = std::function<void(int fiber, std::string& text)>;

  /// Runs `body` in so many fibers, and returns what they have made of one text.
  static std::string text(std::uint64_t seed, int fibers, const Body& body) {
    int line[2];
    EXPECT_EQ(::pipe(line), 0);
    const pid_t child = ::fork();
    if (child == 0) (new ExploredRun(fibers, body, line[1]))->run(seed);
    ::close(line[1]);
    std::string all;
    char bytes[256];
    for (ssize_t got; (got = ::read(line[0], bytes, sizeof bytes)) > 0;)
      all.append(bytes, static_cast<std::size_t>(got));
    ::close(line[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return all;
  }

 private:
  ExploredRun(int fibers, Body body, int line) : body_(std::move(body)), left_(fibers), line_(line) {}

  struct Start {
    ExploredRun* run;
    Identity identity;
  };

  [[noreturn]] void run(std::uint64_t seed) {
    ::alarm(60);
    const int count = left_;
    exploration::begin(seed, count);
    if (!make_workers({-1}, count, nullptr) || !start_workers()) ::_exit(1);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (int i = 0; i < count; ++i) {
      thread_begins();
      auto* const start = new Start{this, {}};
      start->identity.rank = i;
      pthread_t thread;
      if (pthread_create(&thread, nullptr, &ExploredRun::begin, start) != 0) ::_exit(1);
    }
    for (;;) ::pause();
  }

  static void* begin(void* argument) {
    auto* const start = static_cast<Start*>(argument);
    become_fiber(0, &start->identity);
    ExploredRun& run = *start->run;
    run.body_(start->identity.rank, run.text_);
    if (--run.left_ == 0) {
      const auto size = static_cast<ssize_t>(run.text_.size());
      ::_exit(::write(run.line_, run.text_.data(), run.text_.size()) == size ? 0 : 1);
    }
    end_here();
  }

  const Body body_;
  int left_;
  const int line_;
  std::string text_;
};

}  // namespace clump::fiber
