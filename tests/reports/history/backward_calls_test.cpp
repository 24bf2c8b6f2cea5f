#include "reports/history/backward_calls.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "reports/history/recorded_sites.h"

namespace ohm::reports {
namespace {

/// A frame: its function, in this file.
using Frame = std::pair<const char*, const char*>;

constexpr const char* kAutograd = "/venv/lib/python3.11/site-packages/torch/autograd/__init__.py";
constexpr const char* kTensor = "/venv/lib/python3.11/site-packages/torch/_tensor.py";
constexpr const char* kHook = "/venv/lib/python3.11/site-packages/torch/utils/hooks.py";

class Program {
 public:
  /// Innermost first, each in line 7.
  StackId stack(std::initializer_list<Frame> frames) {
    std::vector<FrameId> ids;
    for (const auto& [function, file] : frames) {
      StackFrame frame;
      frame.name = tables.intern(function);
      frame.filename = tables.intern(file);
      frame.line = 7;
      ids.push_back(tables.intern(frame));
    }
    return tables.intern(ids);
  }

  StackTable tables;
  StackId beginning = stack({{"_make_grads", kAutograd},
                             {"backward", kAutograd},
                             {"backward", kTensor},
                             {"train", "/home/train.py"},
                             {"<module>", "/home/train.py"}});
  StackId of_hook = stack({{"<lambda>", "/home/hooks.py"}, {"hook", kHook}});
  StackId of_own = stack({{"<module>", "/home/train.py"}});
};

TEST(BackwardCalls, ABackwardRunsFromItsFirstGradientUntilTheProgramGoesOn) {
  Program program;
  BackwardCalls calls(program.tables);
  EXPECT_EQ(kNoStack, calls.running());
  calls.follow(program.of_own);
  calls.follow(kNoStack);
  EXPECT_EQ(kNoStack, calls.running());
  for (const StackId during : {program.beginning, kNoStack, program.of_hook, kNoStack}) {
    calls.follow(during);
    EXPECT_EQ(program.beginning, calls.running());
  }
  calls.follow(program.of_own);
  EXPECT_EQ(kNoStack, calls.running());
}

TEST(BackwardCalls, NativeFramesOfAThreadDoNotHideWhoseItIs) {
  Program program;
  BackwardCalls calls(program.tables);
  const StackId beginning = program.stack({{"at::_ops::ones_like::call", "ops.cpp"},
                                           {"_make_grads", kAutograd},
                                           {"<module>", "/home/train.py"},
                                           {"_start", "??"}});
  calls.follow(beginning);
  calls.follow(program.stack({{"at::_ops::addmm::call", "ops.cpp"}, {"clone3", "??"}}));
  EXPECT_EQ(beginning, calls.running());
  calls.follow(program.stack({{"<module>", "/home/train.py"}, {"_start", "??"}}));
  EXPECT_EQ(kNoStack, calls.running());
}

TEST(BackwardCalls, OfThreadsThatBothCallItNoneIsTold) {
  Program program;
  constexpr Frame kThread = {"_bootstrap", "/usr/lib/python3.11/threading.py"};
  const StackId elsewhere =
      program.stack({{"_make_grads", kAutograd}, {"train", "/home/train.py"}, kThread});
  BackwardCalls calls(program.tables);
  calls.follow(program.beginning);
  calls.follow(elsewhere);
  EXPECT_EQ(kNoStack, calls.running());
  calls.follow(program.beginning);
  EXPECT_EQ(kNoStack, calls.running());
}

/// Who loads data has no part in a backward.
TEST(BackwardCalls, AThreadThatCallsNoneChangesNothing) {
  Program program;
  BackwardCalls calls(program.tables);
  calls.follow(program.beginning);
  calls.follow(program.stack(
      {{"load", "/home/train.py"}, {"_bootstrap", "/usr/lib/python3.11/threading.py"}}));
  EXPECT_EQ(program.beginning, calls.running());
}

TEST(BackwardCalls, WhatAutogradAsksForHasTheLineThatCalledBackward) {
  Program program;
  RecordedSites sites(program.tables, true);
  const SiteId id = sites.in_backward(kNoStack, program.beginning);
  EXPECT_EQ(id, sites.in_backward(kNoStack, program.beginning));
  EXPECT_EQ("backward", sites.at(id).op);
  EXPECT_EQ("/home/train.py", sites.at(id).file);
  EXPECT_EQ(7, sites.at(id).line);
  EXPECT_EQ(Category::gradient, sites.category_of(id));
  MemoryHistory history;
  const std::uint32_t call = sites.at(id).call;
  sites.move_to(history);
  ASSERT_NE(0U, call);
  EXPECT_EQ("backward", history.lines[history.calls[call - 1].line].function);
}

TEST(BackwardCalls, AThreadOfPythonsThatRunsLibrariesAloneKeepsItsPlace) {
  Program program;
  RecordedSites sites(program.tables, true);
  const StackId thread =
      program.stack({{"fetch", "/usr/lib/python3/site-packages/loader/worker.py"},
                     {"_bootstrap", "/usr/lib/python3.11/threading.py"}});
  EXPECT_EQ(sites.of(thread), sites.in_backward(thread, program.beginning));
}

TEST(BackwardCalls, AHookOfTheProgramsOwnKeepsItsLine) {
  Program program;
  RecordedSites sites(program.tables, true);
  const SiteId id = sites.in_backward(program.of_hook, program.beginning);
  EXPECT_EQ("/home/hooks.py", sites.at(id).file);
  EXPECT_EQ(sites.of(program.of_hook), id);
}

}  // namespace
}  // namespace ohm::reports
