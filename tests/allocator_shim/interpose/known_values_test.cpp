#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/provisional_values.h"
#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

constexpr int kDefault = 4;  // cudaMemcpyDefault

template <class Signature>
auto* of_library(const char* name) {
  return function<Signature>("libohm_cuda.so", name);
}

void launch_kernel() {
  struct Dimensions {
    unsigned x, y, z;
  };
  using Launch = int(const void*, Dimensions, Dimensions, void**, std::size_t, void*);
  ASSERT_EQ(function<Launch>(kRuntime, "cudaLaunchKernel")(registered_kernel(), {1, 1, 1},
                                                           {1, 1, 1}, nullptr, 0, nullptr),
            kSuccess);
}

int reads = 0;
std::size_t bytes_of_last_read = 0;

void follow(const void* /*from*/, std::size_t bytes) {
  ++reads;
  bytes_of_last_read = bytes;
}

class KnownValues : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ((function<int(void**, std::size_t)>(kRuntime, "cudaMalloc")(&memory_, kBytes)),
              kSuccess);
    bytes_ = static_cast<std::byte*>(memory_);
    mark_unknown(0, kBytes);
    reads = 0;
    of_library<void(void (*)(const void*, std::size_t))>("ohm_follow_unknown_reads")(&follow);
  }
  void TearDown() override {
    of_library<void(void (*)(const void*, std::size_t))>("ohm_follow_unknown_reads")(nullptr);
    EXPECT_EQ(function<int(void*)>(kRuntime, "cudaFree")(memory_), kSuccess);
  }

  void mark_known(std::size_t offset, std::size_t bytes) {
    of_library<void(const void*, std::size_t)>("ohm_mark_known")(bytes_ + offset, bytes);
  }
  void mark_unknown(std::size_t offset, std::size_t bytes) {
    of_library<void(const void*, std::size_t)>("ohm_mark_unknown")(bytes_ + offset, bytes);
  }
  bool is_known(std::size_t offset, std::size_t bytes) {
    return of_library<int(const void*, std::size_t)>("ohm_is_known")(bytes_ + offset, bytes) != 0;
  }
  template <class Value>
  Value read(std::size_t offset) {
    Value value = {};
    EXPECT_EQ((function<int(void*, const void*, std::size_t, int)>(kRuntime, "cudaMemcpy")(
                  &value, bytes_ + offset, sizeof(value), kDefault)),
              kSuccess);
    return value;
  }

  static constexpr std::size_t kBytes = 4096;
  void* memory_ = nullptr;
  std::byte* bytes_ = nullptr;
};

TEST_F(KnownValues, RangesJoinAndAreCut) {
  EXPECT_FALSE(is_known(0, 1));
  EXPECT_TRUE(is_known(0, 0));
  mark_known(0, 100);
  mark_known(200, 100);
  EXPECT_FALSE(is_known(0, 300));
  mark_known(100, 100);
  EXPECT_TRUE(is_known(0, 300));
  mark_unknown(150, 10);
  EXPECT_TRUE(is_known(0, 150));
  EXPECT_FALSE(is_known(140, 20));
  EXPECT_TRUE(is_known(160, 140));
  mark_known(100, 100);
  EXPECT_TRUE(is_known(0, 300));
  EXPECT_FALSE(is_known(0, 301));
}

TEST_F(KnownValues, AReadOfUnknownBytesIsReported) {
  mark_known(0, 8);
  read<std::int64_t>(0);
  EXPECT_EQ(reads, 0);
  read<std::int32_t>(8);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(bytes_of_last_read, 4U);
}

TEST_F(KnownValues, ASingleUnknownNumberReadsAsZero) {
  struct Numbers {
    std::int64_t first, second, third;
  };
  EXPECT_EQ((function<int(void*, int, std::size_t)>(kRuntime, "cudaMemset")(memory_, 0xFF, kBytes)),
            kSuccess);
  mark_known(0, 8);
  EXPECT_EQ(read<std::int64_t>(0), -1);
  EXPECT_EQ(read<std::int64_t>(8), 0);
  EXPECT_EQ(read<std::uint8_t>(8), 0);
  EXPECT_EQ(read<Numbers>(8).third, -1);
}

TEST_F(KnownValues, AnswersStandForCountsOfTheDevice) {
  const std::int64_t counts[] = {7, 9};
  of_library<void(const std::int64_t*, int)>("ohm_answer_reads")(counts, 2);
  EXPECT_EQ(read<std::int32_t>(0), 7);
  EXPECT_EQ(read<std::int64_t>(0), 9);
  EXPECT_EQ(read<std::int64_t>(0), 9);
  EXPECT_TRUE(read<bool>(0));
  of_library<void()>("ohm_end_answers")();
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(read<std::int32_t>(0), 0);
  EXPECT_EQ(reads, 1);
}

// ---- provisional_values.h ----

Judgment judgment = Judgment::undecided;
int judged = 0;

Judgment judge() {
  ++judged;
  return judgment;
}

class ProvisionalValues : public KnownValues {
 protected:
  void SetUp() override {
    KnownValues::SetUp();
    judged = 0;
    of_library<void(WorkFollower)>("ohm_follow_work")(&judge);
    mark_provisionally(0, 8);
  }
  void TearDown() override {
    of_library<void(WorkFollower)>("ohm_follow_work")(nullptr);
    of_library<void()>("ohm_confirm_values")();
    KnownValues::TearDown();
  }

  void mark_provisionally(std::size_t offset, std::size_t bytes) {
    of_library<void(const void*, std::size_t)>("ohm_mark_provisionally")(bytes_ + offset, bytes);
  }
  static void work(Judgment as) {
    judgment = as;
    launch_kernel();
  }
};

TEST_F(ProvisionalValues, AreUnknownOnceTheSameOperatorGoesOn) {
  work(Judgment::of_same_operator);
  EXPECT_FALSE(is_known(0, 8));
  work(Judgment::of_same_operator);
  EXPECT_EQ(judged, 1) << "nothing is provisional any more";
}

TEST_F(ProvisionalValues, StayKnownOnceAnotherOperatorBegins) {
  work(Judgment::of_another);
  work(Judgment::of_same_operator);
  EXPECT_TRUE(is_known(0, 8));
  EXPECT_EQ(judged, 1);
}

TEST_F(ProvisionalValues, StayProvisionalWhereNothingIsDecided) {
  work(Judgment::undecided);
  work(Judgment::of_same_operator);
  EXPECT_FALSE(is_known(0, 8));
  EXPECT_EQ(judged, 2);
}

TEST_F(ProvisionalValues, AreKnownOnceTheyAreAskedAbout) {
  mark_provisionally(16, 8);
  EXPECT_TRUE(is_known(0, 4));
  work(Judgment::of_same_operator);
  EXPECT_TRUE(is_known(0, 8));
  EXPECT_FALSE(is_known(16, 8));
}

TEST_F(ProvisionalValues, AreUnknownAfterAMathLibraryHasWorked) {
  judgment = Judgment::of_same_operator;
  const auto cholesky = function<int(void*, int, int, void*, int, void*, int, int*)>(
      "libcusolver.so.11", "cusolverDnSpotrf");
  void* handle = nullptr;
  ASSERT_EQ((function<int(void**)>("libcusolver.so.11", "cusolverDnCreate")(&handle)), kSuccess);
  int info = 1;
  ASSERT_EQ(cholesky(handle, 0, 2, bytes_, 2, nullptr, 0, &info), kSuccess);
  EXPECT_FALSE(is_known(0, 8));
}

TEST_F(ProvisionalValues, AreUnknownWhereNobodyJudges) {
  of_library<void(WorkFollower)>("ohm_follow_work")(nullptr);
  work(Judgment::of_another);
  EXPECT_FALSE(is_known(0, 8));
}

}  // namespace
}  // namespace ohm::interpose
