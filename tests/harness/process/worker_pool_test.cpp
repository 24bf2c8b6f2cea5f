#include "harness/process/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <new>
#include <stdexcept>
#include <vector>

#include "runtime/ops/host/gemm.h"

namespace ohm::engine {
namespace {

const auto kGoOn = [] { return true; };

WorkResult result_of(const WorkerPool::Work& work, double timeout_seconds = 60) {
  WorkResult result;
  WorkerPool pool({1, timeout_seconds});
  pool.submit(0, work, [&](WorkResult ended) { result = std::move(ended); });
  pool.run(kGoOn);
  return result;
}

[[noreturn]] void loop_for_ever() {
  while (true) {
    // Something a compiler may not take away.
    ::usleep(1000);
  }
}

TEST(WorkerPool, BringsBackTheMessageAndTheOutput) {
  const WorkResult result = result_of([] {
    std::puts("to stdout");
    std::fputs("to stderr\n", stderr);
    return std::string("message with a \0 in it", 22);
  });
  EXPECT_EQ(WorkEnd::message, result.end);
  EXPECT_EQ(std::string("message with a \0 in it", 22), result.message);
  EXPECT_EQ("to stderr\nto stdout\n", result.output);
}

TEST(WorkerPool, CrashIsTheEndOfOnePieceOfWorkOnly) {
  std::vector<std::string> endings(4);
  WorkerPool pool({2, 60});
  const std::vector<WorkerPool::Work> works = {
      [] { return std::string("first"); },
      []() -> std::string { std::raise(SIGSEGV), std::abort(); },
      []() -> std::string { std::abort(); },
      [] { return std::string("last"); },
  };
  for (std::size_t i = 0; i < works.size(); ++i) {
    pool.submit(0, works[i], [&endings, i](const WorkResult& result) {
      endings[i] = result.end == WorkEnd::message ? result.message : result.how_it_ended;
    });
  }
  pool.run(kGoOn);
  EXPECT_EQ((std::vector<std::string>{"first", "killed by SIGSEGV (Segmentation fault)",
                                      "killed by SIGABRT (Aborted)", "last"}),
            endings);
}

TEST(WorkerPool, ExitBeforeTheMessageIsACrash) {
  const WorkResult result = result_of([]() -> std::string { ::_exit(0); });
  EXPECT_EQ(WorkEnd::crashed, result.end);
  EXPECT_EQ("exited with code 0 before it reported", result.how_it_ended);
  EXPECT_EQ("exited with code 7 before it reported",
            result_of([]() -> std::string { ::_exit(7); }).how_it_ended);
}

TEST(WorkerPool, MessageThatIsCutOffIsACrash) {
  void* shared = ::mmap(nullptr, sizeof(std::atomic<pid_t>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, shared);
  auto* worker = new (shared) std::atomic<pid_t>(0);
  WorkResult result;
  WorkerPool pool({1, 60});
  pool.submit(
      0,
      [worker] {
        worker->store(::getpid());
        return std::string(std::size_t{64} << 20U, 'x');
      },
      [&](WorkResult ended) { result = std::move(ended); });
  // Between two reads of a pipe's capacity: far from all of it has arrived.
  pool.run([worker] {
    const pid_t pid = worker->exchange(0);
    if (pid != 0) ::kill(pid, SIGKILL);
    return true;
  });
  EXPECT_EQ(WorkEnd::crashed, result.end);
  EXPECT_EQ("killed by SIGKILL (Killed)", result.how_it_ended);
  ::munmap(shared, sizeof *worker);
}

TEST(WorkerPool, ExceptionThatLeavesTheWorkIsACrashThatSaysWhat) {
  const WorkResult result =
      result_of([]() -> std::string { throw std::logic_error("a mistake of ours"); });
  EXPECT_EQ(WorkEnd::crashed, result.end);
  EXPECT_EQ("ended by an error: a mistake of ours", result.how_it_ended);
  const WorkResult full = result_of([]() -> std::string { throw std::bad_alloc(); });
  EXPECT_EQ("ended by an error: the host has no memory left", full.how_it_ended);
}

TEST(WorkerPool, ExceptionOfACopyOfTheWorkIsTheCopys) {
  const WorkResult result = result_of([]() -> std::string {
    const pid_t copy = ::fork();
    if (copy == 0) throw std::runtime_error("the copy's");
    int status = 0;
    ::waitpid(copy, &status, 0);
    return WIFSIGNALED(status) ? "killed" : "ended";
  });
  EXPECT_EQ(WorkEnd::message, result.end) << result.how_it_ended;
  EXPECT_EQ("killed", result.message);
}

TEST(WorkerPool, WorkThatMultipliesMatricesHasOneThread) {
  // A trial is a copy of such a process: a thread that is starting may hold the heap's lock.
  const WorkResult result = result_of([] {
    const std::vector<float> one = {1};
    float product = 0;
    const ops::Matrix<float> factor = {one.data(), 1, false};
    ops::host_gemm(1, 1, 1, factor, factor, 0, &product, 1);
    const std::filesystem::directory_iterator threads("/proc/self/task");
    return std::to_string(std::distance(begin(threads), end(threads)));
  });
  EXPECT_EQ("1", result.message);
}

TEST(WorkerPool, EndlessLoopIsKilled) {
  const auto begin = std::chrono::steady_clock::now();
  const WorkResult result = result_of([]() -> std::string { loop_for_ever(); }, 0.2);
  EXPECT_EQ(WorkEnd::timeout, result.end);
  EXPECT_GE(result.seconds, 0.2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(WorkerPool, HugeOutputIsReadAndCutOff) {
  const WorkResult result = result_of([] {
    const std::string line(1023, 'x');
    for (int i = 0; i < 4096; ++i) std::puts(line.c_str());
    return std::string("done");
  });
  EXPECT_EQ("done", result.message);
  EXPECT_EQ(WorkerPool::kMaxOutput, result.output.size());
}

TEST(WorkerPool, HugeMessageArrivesWhole) {
  std::string expected(std::size_t{8} << 20U, '\0');
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<char>(i * 31);
  EXPECT_EQ(expected, result_of([&] { return expected; }).message);
}

TEST(WorkerPool, StartsSmallerOrdersFirstAndEqualOnesAsSubmitted) {
  std::string order;
  WorkerPool pool({1, 60});
  const auto submit = [&](std::int64_t at, const char* name) {
    pool.submit(
        at, [name] { return std::string(name); },
        [&](const WorkResult& result) { order += result.message; });
  };
  submit(2, "c");
  submit(1, "a");
  submit(1, "b");
  pool.run(kGoOn);
  EXPECT_EQ("abc", order);
  EXPECT_EQ(3U, pool.submitted());
  EXPECT_EQ(3U, pool.finished());
}

TEST(WorkerPool, WorkCanBringMoreWork) {
  std::string order;
  WorkerPool pool({4, 60});
  pool.submit(
      0, [] { return std::string("1"); },
      [&](const WorkResult& first) {
        order += first.message;
        pool.submit(
            0, [] { return std::string("2"); },
            [&](const WorkResult& second) { order += second.message; });
      });
  pool.run(kGoOn);
  EXPECT_EQ("12", order);
}

TEST(WorkerPool, StopsWhenItIsNotToGoOn) {
  int done = 0;
  WorkerPool pool({1, 60});
  for (int i = 0; i < 3; ++i) {
    pool.submit(
        0, [] { return std::string(); }, [&](const WorkResult& /*result*/) { ++done; });
  }
  pool.run([&] { return done < 1; });
  EXPECT_EQ(1, done);
}

TEST(WorkerPool, InterruptEndsEverythingAndLosesNothing) {
  std::vector<WorkEnd> ends;
  WorkerPool pool({1, 60});
  const auto note = [&](const WorkResult& result) { ends.push_back(result.end); };
  pool.submit(
      0, [] { return std::string("quick"); }, note);
  pool.submit(
      1, []() -> std::string { ::kill(::getppid(), SIGINT), loop_for_ever(); }, note);
  pool.submit(
      2, [] { return std::string("never"); }, note);
  pool.submit(
      3, [] { return std::string("never"); }, note);
  pool.run(kGoOn);
  EXPECT_EQ(SIGINT, InterruptGuard::signal());
  EXPECT_EQ((std::vector<WorkEnd>{WorkEnd::message, WorkEnd::interrupted, WorkEnd::interrupted,
                                  WorkEnd::interrupted}),
            ends);
}

TEST(WorkerPool, WorkSeesNoInputAndDefaultSignals) {
  const WorkResult result = result_of([] {
    const bool no_input = std::getchar() == EOF;
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, nullptr, &blocked);
    const bool held = sigismember(&blocked, SIGINT) != 0;
    return std::string(no_input ? "no input" : "input") + (held ? ", held" : ", not held");
  });
  EXPECT_EQ("no input, not held", result.message);
}

}  // namespace
}  // namespace ohm::engine
