// Processes that share GPUs (OHM_SHARED_GPU), each of which does what a test tells it to.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "allocator_shim/device/gpu_table.h"
#include "tests/allocator_shim/interpose/served_program.h"

namespace ohm::interpose {
namespace {

class Program : public ServedProgram {
 public:
  explicit Program(const std::string& table, const std::string& gpus = "tiny-64m,count=2")
      : ServedProgram({{"OHM_GPU", gpus}, {"OHM_SHARED_GPU", table}}) {}
};

class SharedGpus : public testing::Test {
 protected:
  SharedGpus() : table_(testing::TempDir() + "shared-gpus-" + std::to_string(getpid())) {
    std::filesystem::remove(table_);
    GpuTable::create(table_);
  }
  ~SharedGpus() override { std::filesystem::remove(table_); }

  std::string table_;
};

/// Most tests are about two processes.
class TwoProcesses : public SharedGpus {
 protected:
  Program first_{table_};
  Program second_{table_};
};

TEST_F(TwoProcesses, MemoryThatOneProcessHoldsIsNotThereForAnother) {
  EXPECT_EQ(first_("take 0 38"), "0");
  EXPECT_EQ(second_("free 0"), "26");
  EXPECT_EQ(second_("take 0 38"), "2");
  EXPECT_EQ(second_("take 0 26"), "0");
  EXPECT_EQ(first_("free 0"), "0");
  EXPECT_EQ(first_("drop"), "0");
  EXPECT_EQ(second_("take 0 38"), "0");
}

TEST_F(TwoProcesses, MemoryWithoutAddressesCountsToo) {
  EXPECT_EQ(first_("create 0 40"), "0");
  EXPECT_EQ(second_("create 0 26"), "2");
  EXPECT_EQ(second_("create 0 24"), "0");
  EXPECT_EQ(first_("free 0"), "0");
}

TEST_F(TwoProcesses, OtherGpusAreNotTouched) {
  EXPECT_EQ(first_("take 0 60"), "0");
  EXPECT_EQ(second_("take 1 60"), "0");
  EXPECT_EQ(second_("free 0"), "4");
}

TEST_F(TwoProcesses, AKilledProcessGivesItsMemoryBack) {
  EXPECT_EQ(first_("take 0 40"), "0");
  EXPECT_EQ(second_("take 0 40"), "2");
  first_.kill();
  EXPECT_EQ(second_("take 0 40"), "0");
}

TEST_F(TwoProcesses, SoDoesOneThatIsNotWaitedForYet) {
  EXPECT_EQ(first_("take 0 40"), "0");
  first_.kill(false);
  EXPECT_EQ(second_("free 0"), "64");
  EXPECT_EQ(second_("take 0 64"), "0");
}

TEST_F(SharedGpus, AProcessThatEndsGivesItsMemoryBack) {
  Program second(table_);
  {
    Program first(table_);
    EXPECT_EQ(first("take 0 40"), "0");
    EXPECT_EQ(second("free 0"), "24");
  }
  EXPECT_EQ(second("free 0"), "64");
}

TEST_F(SharedGpus, AForkedChildHasNoneAndTakesNoneAway) {
  Program first(table_);
  EXPECT_EQ(first("take 0 40"), "0");
  EXPECT_EQ(first("fork"), "3");  // not initialized, as on a card
  EXPECT_EQ(first("free 0"), "24");
  Program second(table_);
  EXPECT_EQ(second("take 0 26"), "2");
}

TEST_F(TwoProcesses, AProgramThatReplacesItselfStartsWithNothing) {
  EXPECT_EQ(first_("take 0 40"), "0");
  EXPECT_EQ(first_("exec"), "ready");
  EXPECT_EQ(second_("free 0"), "64");
  EXPECT_EQ(second_("take 0 64"), "0");
}

TEST_F(SharedGpus, NvmlListsEveryProcessWithItsContext) {
  const std::string gpus = "t4-16g,capacity=4GiB";
  Program first(table_, gpus);
  Program second(table_, gpus);
  Program onlooker(table_, gpus);
  EXPECT_EQ(onlooker("processes 0"), "");
  EXPECT_EQ(first("take 0 1000"), "0");
  const int context = std::stoi(onlooker("used 0")) - 1000;
  EXPECT_GT(context, 0);
  EXPECT_EQ(second("take 0 500"), "0");
  EXPECT_EQ(onlooker("used 0"), std::to_string(1500 + 2 * context));
  EXPECT_EQ(onlooker("processes 0"),
            std::to_string(first.process()) + ":" + std::to_string(1000 + context) + " " +
                std::to_string(second.process()) + ":" + std::to_string(500 + context));
  EXPECT_EQ(first("free 0"), std::to_string(4096 - 1500 - 2 * context));
}

TEST_F(SharedGpus, AFullCardHasNoRoomForAnotherContext) {
  const std::string gpus = "t4-16g,capacity=1GiB";
  Program first(table_, gpus);
  Program second(table_, gpus);
  const std::string free = first("free 0");
  EXPECT_EQ(first("take 0 " + free), "0");
  EXPECT_EQ(second("take 0 1"), "2");
  EXPECT_EQ(second("free 0"), "failed 2");
  EXPECT_EQ(first("drop"), "0");
  EXPECT_EQ(second("take 0 1"), "0");
}

TEST_F(SharedGpus, AMissingTableEndsTheProgram) {
  Program program("/nowhere/table");
  EXPECT_EQ(program("take 0 1"), "ended");
}

TEST_F(SharedGpus, WithoutATableEachProcessHasItsOwn) {
  Program first("");
  Program second("");
  EXPECT_EQ(first("take 0 60"), "0");
  EXPECT_EQ(second("take 0 60"), "0");
}

TEST_F(SharedGpus, SurviveADeathAtAnyMoment) {
  // Each is killed while it takes and gives back without a pause.
  constexpr int kDeaths = 40;
  for (int i = 0; i < kDeaths; ++i) {
    const pid_t busy = fork();
    if (busy == 0) {
      GpuTable table(table_);
      for (;;) {
        if (table.take(0, 64, 64)) table.give_back(0, 64);
      }
    }
    usleep(static_cast<useconds_t>(1000 + 137 * i));
    ::kill(busy, SIGKILL);
    waitpid(busy, nullptr, 0);
    GpuTable table(table_);
    ASSERT_TRUE(table.take(0, 64, 64));
    table.give_back(0, 64);
  }
}

TEST_F(SharedGpus, ATableIsNotMadeOverAnotherFile) {
  EXPECT_THROW(GpuTable::create(table_), std::invalid_argument);
  std::filesystem::resize_file(table_, 100);
  EXPECT_THROW(GpuTable{table_}, std::invalid_argument);
}

}  // namespace
}  // namespace ohm::interpose
