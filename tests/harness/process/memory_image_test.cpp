// A process that goes back to what it was.
#include "harness/process/memory_image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/process/host_heap.h"

namespace ohm::engine {
namespace {

using Taken = MemoryImage::Taken;

constexpr std::size_t kEnough = std::size_t{64} << 20U;

/// A number that no image has.
class SharedNumber {
 public:
  SharedNumber()
      : number_(static_cast<int*>(::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedNumber() { ::munmap(number_, sizeof(int)); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;
  int& operator*() const { return *number_; }

 private:
  int* number_;
};

class MemoryImageTest : public testing::Test {
 protected:
  void SetUp() override {
    keep_freed_memory();  // as ohm does: what is freed is written to again
    MemoryImage image(kEnough);
    if (image.take() == Taken::not_possible) {
      GTEST_SKIP() << "no image can be taken here: under a sanitizer, or a thread ran before";
    }
  }
};

int variable = 0;

/// A page that is written to for the first time cannot be put back.
void write_to_some_memory() {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  const std::vector<char> heap(kBytes, 'x');
  std::array<volatile char, kBytes / 4> stack;
  for (volatile char& byte : stack) byte = heap[1];
}

/// Deeper than the frame that is gone back to.
[[noreturn]] void go_back_from_below(MemoryImage& image, int depth) {
  if (depth > 0) go_back_from_below(image, depth - 1);
  image.put_back();
  std::abort();
}

TEST_F(MemoryImageTest, HasTheHeapVariablesAndTheStackAsOftenAsAsked) {
  write_to_some_memory();
  MemoryImage image(kEnough);
  const SharedNumber times;
  std::map<int, std::string> on_heap = {{1, "one"}};
  std::string on_stack = "before";
  variable = 1;
  const Taken taken = image.take();
  EXPECT_EQ(taken, *times == 0 ? Taken::now : Taken::put_back);
  EXPECT_EQ(on_heap, (std::map<int, std::string>{{1, "one"}}));
  EXPECT_EQ(on_stack, "before");
  EXPECT_EQ(variable, 1);
  if (++*times > 3) return;
  for (int i = 0; i < 1000; ++i) on_heap[i] = std::string(100, 'x');
  on_stack = "after";
  variable = 2;
  go_back_from_below(image, 1000 * (*times - 1));
}

TEST_F(MemoryImageTest, IsTakenAgainFurtherOn) {
  write_to_some_memory();
  MemoryImage image(kEnough);
  const SharedNumber times;
  std::vector<int> taken_at;
  for (int i = 0; i < 5; ++i) {
    taken_at.push_back(i);
    if (image.take() != Taken::now) continue;
    taken_at.clear();
    ++*times;
    image.put_back();
  }
  EXPECT_EQ(taken_at, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(*times, 5);
}

TEST_F(MemoryImageTest, IsPutBackWhileAnErrorIsHandled) {
  write_to_some_memory();
  MemoryImage image(kEnough);
  try {
    throw std::runtime_error("first");
  } catch (const std::runtime_error& first) {
    if (image.take() == Taken::now) {
      try {
        throw std::runtime_error("second");
      } catch (const std::runtime_error&) {
        image.put_back();
      }
    }
    EXPECT_STREQ(first.what(), "first");
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  }
}

TEST_F(MemoryImageTest, IsNotPutBackWhereTheKernelKnowsMore) {
  MemoryImage image(kEnough);
  ASSERT_EQ(image.take(), Taken::now);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  image.put_back();
  ::close(file);
  void* const mapping =
      ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  image.put_back();
  EXPECT_EQ(::munmap(mapping, 1 << 20), 0);
}

/// Forks that take an image, change something, and go back.
class ForksWithAnImage {
 public:
  enum class End { as_before, changed, not_put_back };

  End end_of_another(const std::function<void()>& change,
                     const std::function<bool()>& is_as_before) {
    const pid_t fork = ::fork();
    if (fork == 0) ::_exit(static_cast<int>(in_fork(change, is_as_before)));
    int status = 0;
    ::waitpid(fork, &status, 0);
    return static_cast<End>(WEXITSTATUS(status));
  }

 private:
  End in_fork(const std::function<void()>& change, const std::function<bool()>& is_as_before) {
    if (image_.take() == Taken::put_back) return is_as_before() ? End::as_before : End::changed;
    change();
    image_.put_back();
    return End::not_put_back;
  }

  MemoryImage image_{kEnough};
};

using End = ForksWithAnImage::End;

TEST_F(MemoryImageTest, HasWhatAnEarlierForkWroteToAndIsNotPutBackWhereItHasNot) {
  std::vector<char> memory(std::size_t{1} << 20U, 'a');
  ForksWithAnImage forks;
  const auto end_of_another = [&](std::ptrdiff_t bytes) {
    return forks.end_of_another(
        [&] { std::fill_n(memory.begin(), bytes, 'b'); },
        [&] { return std::count(memory.begin(), memory.end(), 'a') == std::ssize(memory); });
  };
  constexpr std::ptrdiff_t kLess = 100'000;
  constexpr std::ptrdiff_t kMore = 300'000;
  EXPECT_EQ(end_of_another(kLess), End::not_put_back);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(end_of_another(kLess), End::as_before);
  EXPECT_EQ(end_of_another(kMore), End::not_put_back);
  EXPECT_EQ(end_of_another(kMore), End::as_before);
  EXPECT_EQ(end_of_another(kLess), End::as_before);
}

TEST_F(MemoryImageTest, GivesBackWhatTheHeapGrewBy) {
  constexpr std::size_t kBytes = std::size_t{1} << 16U;
  constexpr std::size_t kBlocks = 200;
  const auto* const end = static_cast<const char*>(::sbrk(0));
  const auto grow = [&] {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      std::fill_n(static_cast<char*>(std::malloc(kBytes)), kBytes, 'x');
    }
    if (::sbrk(0) == end) std::abort();
  };
  // What is new has to be zero.
  const auto is_as_before = [&] {
    bool is_zero = ::sbrk(0) == end;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      const auto* const block = static_cast<const char*>(std::calloc(kBytes, 1));
      is_zero = is_zero && std::count(block, block + kBytes, '\0') == kBytes;
    }
    return is_zero;
  };
  ForksWithAnImage forks;
  EXPECT_EQ(forks.end_of_another(grow, is_as_before), End::not_put_back);
  EXPECT_EQ(forks.end_of_another(grow, is_as_before), End::as_before);
}

TEST_F(MemoryImageTest, IsNotTakenOfMoreBytesOrOfSeveralThreads) {
  EXPECT_EQ(MemoryImage(0).take(), Taken::not_possible);
  EXPECT_EQ(MemoryImage(4096).take(), Taken::not_possible);
  std::atomic<bool> ends = false;
  std::thread thread([&] { ends.wait(false); });
  EXPECT_EQ(MemoryImage(kEnough).take(), Taken::not_possible);
  ends = true;
  ends.notify_one();
  thread.join();
}

}  // namespace
}  // namespace ohm::engine
