#include "reports/history/recorded_categories.h"
#include "tests/reports/history/torch_files.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ohm::reports {
namespace {

using ::testing::ElementsAre;

constexpr const char* kRegistry = "/venv/lib/python3.11/site-packages/torch/_native/registry.py";
constexpr std::size_t kParameter = 1;  // among the details of entries
constexpr const char* kReplicate =
    "/venv/lib/python3.11/site-packages/torch/nn/parallel/replicate.py";

/// A frame: its function, in this file.
using Frame = std::pair<const char*, const char*>;

/// A trace of one device, written an entry at a time.
class RecordedCategories : public ::testing::Test {
 protected:
  RecordedCategories() {
    snapshot_.device_traces.resize(1);
    snapshot_.details.resize(2);
    snapshot_.details[kParameter].category = snapshot_.tables.intern("parameter");
  }

  StackId stack(const std::vector<Frame>& frames) {
    std::vector<FrameId> ids;
    for (const auto& [function, file] : frames) {
      StackFrame frame;
      frame.name = snapshot_.tables.intern(function);
      frame.filename = snapshot_.tables.intern(file);
      frame.line = 7;
      ids.push_back(snapshot_.tables.intern(frame));
    }
    return snapshot_.tables.intern(ids);
  }
  StackId linear() {
    return stack({{"linear", kFunctional}, {"_call_impl", kModule}, {"main", "train.py"}});
  }
  StackId relu() {
    return stack({{"relu", kFunctional}, {"_call_impl", kModule}, {"main", "train.py"}});
  }

  void alloc(std::uint64_t address, StackId stack, std::uint64_t bytes = 4096) {
    add(EventAction::alloc, address, stack, bytes);
  }
  void alloc_parameter(std::uint64_t address, std::uint64_t bytes) {
    alloc(address, linear(), bytes);
    snapshot_.device_traces[0].back().detail = kParameter;
  }
  void free(std::uint64_t address, StackId stack) {
    add(EventAction::free_requested, address, stack, 4096);
  }

  void run_out_of_memory() { add(EventAction::oom, 0, linear(), 4096); }

  /// Of the allocations, in their order.
  std::vector<Category> categories() {
    RecordedSites sites(snapshot_.tables, true);
    const std::vector<Category> all = recorded_categories(snapshot_, 0, sites);
    std::vector<Category> found;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (snapshot_.device_traces[0][i].action == EventAction::alloc) found.push_back(all[i]);
    }
    return found;
  }

 private:
  void add(EventAction action, std::uint64_t address, StackId stack, std::uint64_t bytes) {
    TraceEntry entry;
    entry.action = action;
    entry.address = address;
    entry.bytes = bytes;
    entry.stack = stack;
    snapshot_.device_traces[0].push_back(entry);
  }

 protected:
  Snapshot snapshot_;
};

TEST_F(RecordedCategories, ScratchGoesBeforeAnythingThatOutlivesIt) {
  alloc(1, linear());  // a result
  alloc(2, linear());  // scratch
  alloc(3, linear());  // more of it
  free(2, linear());
  free(3, linear());
  alloc(4, relu());
  free(1, linear());
  alloc(5, linear());
  EXPECT_THAT(categories(),
              ElementsAre(Category::activation, Category::workspace, Category::workspace,
                          Category::activation, Category::activation));
}

TEST_F(RecordedCategories, AnActivationThatTheNextOneOutlivesIsNoScratch) {
  alloc(1, linear());
  alloc(2, relu());
  free(1, linear());
  free(2, relu());
  EXPECT_THAT(categories(), ElementsAre(Category::activation, Category::activation));
}

TEST_F(RecordedCategories, WhatAnOutOfMemoryErrorFreesIsNoScratch) {
  alloc(1, linear());
  run_out_of_memory();
  free(1, linear());
  alloc(2, relu());
  EXPECT_THAT(categories(), ElementsAre(Category::activation, Category::activation));
}

TEST_F(RecordedCategories, AKeptWorkspaceOfCublasHidesNoScratch) {
  alloc(1, linear());
  alloc(2, linear());
  alloc(3, linear(), 8'519'680);
  free(2, linear());
  alloc(4, relu());
  EXPECT_THAT(categories(), ElementsAre(Category::activation, Category::workspace,
                                        Category::workspace, Category::activation));
}

TEST_F(RecordedCategories, WhatALineOfTheProgramItselfFreesMayBeATensor) {
  const StackId own = stack({{"main", "train.py"}});
  alloc(1, own);
  free(1, own);
  EXPECT_THAT(categories(), ElementsAre(Category::other));
}

TEST_F(RecordedCategories, AutogradFreesWhatWasSaved) {
  const StackId own = stack({{"main", "train.py"}});
  alloc(1, own);
  alloc(2, own);
  free(1, kNoStack);
  free(2, stack({{"clear", "train.py"}}));
  EXPECT_THAT(categories(), ElementsAre(Category::activation, Category::other));
}

TEST_F(RecordedCategories, GradientsOfParametersAreNoScratch) {
  alloc_parameter(1, 2048);
  alloc(2, kNoStack, 2048);  // is added to what is there, and goes
  alloc(3, kNoStack, 8192);  // a reduction's
  free(3, kNoStack);
  free(2, kNoStack);
  alloc(4, linear());
  EXPECT_THAT(categories(), ElementsAre(Category::parameter, Category::gradient,
                                        Category::workspace, Category::activation));
}

TEST_F(RecordedCategories, WithoutParametersGradientsAreNotToldFromScratch) {
  alloc(1, kNoStack);
  free(1, kNoStack);
  alloc(2, linear());
  EXPECT_THAT(categories(), ElementsAre(Category::gradient, Category::activation));
}

TEST_F(RecordedCategories, AStackThatBeginsInPyTorchIsAutograds) {
  alloc(1, stack({{"eager_router", kRegistry}}));
  alloc(2, stack({{"eager_router", kRegistry}, {"<module>", "train.py"}}));
  alloc(3, stack({{"linear", kFunctional}, {"_call_impl", kModule}, {"backward", kRegistry}}));
  EXPECT_THAT(categories(), ElementsAre(Category::gradient, Category::other, Category::activation));
}

TEST_F(RecordedCategories, ReplicasAreParameters) {
  alloc(1, stack({{"forward", kModule}, {"replicate", kReplicate}, {"forward", kModule}}));
  EXPECT_THAT(categories(), ElementsAre(Category::parameter));
}

}  // namespace
}  // namespace ohm::reports
