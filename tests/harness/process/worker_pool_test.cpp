#include "harness/process/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/ops/matmul/host/gemm.h"

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
  const WorkResult result = result_of([]() -> std::string { loop_for_ever(); }, 0.2);
  EXPECT_EQ(WorkEnd::timeout, result.end);
  EXPECT_GE(result.seconds, 0.2);
}

TEST(WorkerPool, HugeOutputIsReadAndCutOff) {
  const WorkResult result = result_of([] {
    const std::string line(1023, 'x');
    for (int i = 0; i < 4096; ++i) std::puts(line.c_str());
    return std::string("done");
  });
  EXPECT_EQ("done", result.message);
  EXPECT_EQ(kMaxWorkerOutput, result.output.size());
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

/// Of all processes.
struct SharedCounts {
  std::atomic<int> ready{0};
  std::atomic<int> asked{0};
  std::atomic<int> ended{0};
};
SharedCounts* shared_counts = nullptr;

TEST(WorkerPool, AsksAllToEndBeforeItWaitsForOne) {
  void* const memory = ::mmap(nullptr, sizeof(SharedCounts), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  shared_counts = new (memory) SharedCounts();
  WorkerOptions options{2, 60};
  options.wake_seconds = 0.001;
  WorkerPool pool(options);
  const auto goes_when_both_are_asked = []() -> std::string {
    ::signal(SIGTERM, [](int /*signal*/) { ++shared_counts->asked; });
    ++shared_counts->ready;
    while (shared_counts->asked < 2) ::usleep(1000);
    ++shared_counts->ended;
    ::_exit(0);
  };
  for (int i = 0; i < 2; ++i) {
    pool.submit(0, goes_when_both_are_asked, [](const WorkResult& /*result*/) {});
  }
  pool.run([] { return shared_counts->ready < 2; });
  EXPECT_EQ(2, shared_counts->ended);
  ::munmap(memory, sizeof(SharedCounts));
}

// ---- work that begins alike ---------------------------------------------------------------------

/// The origin's own memory, and what all processes share.
class WorkOriginTest : public testing::Test {
 protected:
  WorkOriginTest()
      : begun_(*new (::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int>(0)) {}
  ~WorkOriginTest() override { ::munmap(&begun_, sizeof begun_); }

  /// Begins, and goes on with a copy for each request.
  void run(const std::shared_ptr<WorkOrigin>& origin, const std::vector<std::string>& requests,
           double timeout_seconds = 60) {
    WorkerPool pool({2, timeout_seconds});
    results_.resize(requests.size());
    pool.start(0, origin, [&](const WorkResult& result) {
      beginning_ = result;
      if (!origin->has_begun()) return;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        pool.submit_copy(0, origin, requests[i],
                         [this, i](const WorkResult& ended) { results_[i] = ended; });
      }
    });
    pool.run(kGoOn);
    submitted_ = pool.submitted();
  }

  std::atomic<int>& begun_;
  WorkResult beginning_;
  std::vector<WorkResult> results_;
  std::size_t submitted_ = 0;
};

TEST_F(WorkOriginTest, BeginsOnceAndGoesOnInSeparateCopies) {
  auto state = std::make_shared<std::string>("nothing");
  const auto origin = std::make_shared<WorkOrigin>(
      [this, state] {
        ++begun_;
        *state = "begun";
        std::puts("printed by the beginning");
      },
      [state](const std::string& request) {
        std::puts(request.c_str());
        *state += " " + request;
        return *state;
      });
  run(origin, {"a", "b", "c"});
  ASSERT_EQ(WorkEnd::message, beginning_.end);
  EXPECT_EQ(1, begun_);
  EXPECT_EQ(3U, submitted_);
  EXPECT_EQ("begun a", results_[0].message);
  EXPECT_EQ("begun b", results_[1].message);
  EXPECT_EQ("begun c", results_[2].message);
  EXPECT_EQ("printed by the beginning\nc\n", results_[2].output);
  EXPECT_EQ("nothing", *state);
}

TEST_F(WorkOriginTest, CopyOfAnOriginCanBeAnOrigin) {
  auto state = std::make_shared<std::string>();
  const auto first = std::make_shared<WorkOrigin>(
      [state] {
        *state = "begun";
        std::puts("first");
      },
      [this, state](const std::string& request) {
        ++begun_;
        *state += " " + request;
        std::puts(request.c_str());
        return *state;
      });
  run(first, {});
  run(std::make_shared<WorkOrigin>(first, "second"), {"a", "b"});
  ASSERT_EQ(WorkEnd::message, beginning_.end) << beginning_.how_it_ended;
  EXPECT_EQ(3, begun_);
  EXPECT_EQ("begun second a", results_[0].message);
  EXPECT_EQ("begun second b", results_[1].message);
  EXPECT_EQ("first\nsecond\nb\n", results_[1].output);
}

TEST_F(WorkOriginTest, CopiesEndAsWorkersDo) {
  const auto origin = std::make_shared<WorkOrigin>([] {},
                                                   [](const std::string& request) -> std::string {
                                                     if (request == "abort") std::abort();
                                                     if (request == "throw")
                                                       throw std::logic_error("a mistake of ours");
                                                     if (request == "exit") ::_exit(7);
                                                     if (request == "loop") loop_for_ever();
                                                     return "done";
                                                   });
  run(origin, {"abort", "throw", "exit", "loop", "fine"}, 0.5);
  EXPECT_EQ("killed by SIGABRT (Aborted)", results_[0].how_it_ended);
  EXPECT_EQ("ended by an error: a mistake of ours", results_[1].how_it_ended);
  EXPECT_EQ("exited with code 7 before it reported", results_[2].how_it_ended);
  EXPECT_EQ(WorkEnd::timeout, results_[3].end);
  EXPECT_EQ("done", results_[4].message);
}

TEST_F(WorkOriginTest, BeginningThatFailsSaysHow) {
  const auto go_on = [](const std::string& /*request*/) { return std::string(); };
  run(std::make_shared<WorkOrigin>([] { throw std::runtime_error("it cannot begin"); }, go_on), {});
  EXPECT_EQ("ended by an error: it cannot begin", beginning_.how_it_ended);
  run(std::make_shared<WorkOrigin>([] { std::abort(); }, go_on), {});
  EXPECT_EQ("killed by SIGABRT (Aborted)", beginning_.how_it_ended);
  run(std::make_shared<WorkOrigin>([] { loop_for_ever(); }, go_on), {}, 0.2);
  EXPECT_EQ(WorkEnd::timeout, beginning_.end);
}

TEST_F(WorkOriginTest, CopiesOfAnOriginThatDiedEndAsItDid) {
  const auto origin = std::make_shared<WorkOrigin>([] {},
                                                   [](const std::string& /*request*/) {
                                                     ::kill(::getppid(), SIGKILL);
                                                     loop_for_ever();
                                                     return std::string();
                                                   });
  run(origin, {"a", "b", "c"});
  for (const WorkResult& result : results_) {
    EXPECT_EQ("killed by SIGKILL (Killed)", result.how_it_ended);
  }
}

}  // namespace
}  // namespace ohm::engine
