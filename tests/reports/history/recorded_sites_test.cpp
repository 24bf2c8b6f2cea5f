#include "reports/history/recorded_sites.h"
#include "tests/reports/history/torch_files.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ohm::reports {
namespace {

/// A frame: its function, in this file.
using Frame = std::pair<const char*, const char*>;

constexpr const char* kAdamW = "/venv/lib/python3.11/site-packages/torch/optim/adamw.py";

/// Innermost first, of a program whose own line is 7.
HistorySite site_of(const std::vector<Frame>& frames) {
  StackTable tables;
  std::vector<FrameId> ids;
  for (const auto& [function, file] : frames) {
    StackFrame frame;
    frame.name = tables.intern(function);
    frame.filename = tables.intern(file);
    frame.line = 7;
    ids.push_back(tables.intern(frame));
  }
  const StackId stack = tables.intern(ids);
  RecordedSites sites(tables, true);
  return sites.at(sites.of(stack));
}

TEST(RecordedSites, AnOpIsTheFunctionOfTheLibraryThatWasCalled) {
  EXPECT_EQ("layer_norm", site_of({{"layer_norm", kFunctional},
                                   {"forward", "/torch/nn/modules/normalization.py"},
                                   {"_call_impl", kModule},
                                   {"forward", "train.py"}})
                              .op);
  EXPECT_EQ(
      "cuda",
      site_of({{"<lambda>", kModule}, {"_apply", kModule}, {"cuda", kModule}, {"main", "train.py"}})
          .op);
  EXPECT_EQ("_init_group",
            site_of({{"_init_group", kAdamW}, {"step", kAdamW}, {"main", "t.py"}}).op);
}

TEST(RecordedSites, AModuleIsAnOpWhereItCallsNoneByName) {
  EXPECT_EQ("linear", site_of({{"forward", kLinear},
                               {"_call_impl", kModule},
                               {"_wrapped_call_impl", kModule},
                               {"forward", "train.py"}})
                          .op);
}

TEST(RecordedSites, WhoCalledTheModuleSaysNothingOfIt) {
  const char* const llama = "/venv/lib/python3.11/site-packages/transformers/modeling_llama.py";
  EXPECT_EQ("linear", site_of({{"forward", kLinear},
                               {"_call_impl", kModule},
                               {"forward", llama},
                               {"checked", llama},
                               {"main", "train.py"}})
                          .op);
  EXPECT_EQ(
      "forward",
      site_of(
          {{"forward", llama}, {"_call_impl", kModule}, {"checked", llama}, {"main", "train.py"}})
          .op);
  EXPECT_EQ(
      "matmul_4bit",
      site_of({{"forward", "/venv/lib/python3.11/site-packages/bitsandbytes/_functions.py"},
               {"apply", "/venv/lib/python3.11/site-packages/torch/autograd/function.py"},
               {"matmul_4bit", "/venv/lib/python3.11/site-packages/bitsandbytes/_functions.py"},
               {"main", "train.py"}})
          .op);
}

TEST(RecordedSites, WithoutALibraryThereIsTheProgramsOwnFunction) {
  EXPECT_EQ("attention", site_of({{"attention", "train.py"}, {"forward", "train.py"}}).op);
  EXPECT_EQ("load", site_of({{"<listcomp>", "train.py"}, {"load", "train.py"}}).op);
  EXPECT_EQ("<module>", site_of({{"<listcomp>", "train.py"}, {"<module>", "train.py"}}).op);
}

TEST(RecordedSites, NativeFramesNameTheOpAndNeverTheMachineryAroundIt) {
  EXPECT_EQ("addmm", site_of({{"torch::unwind::unwind()", "??"},
                              {"c10::cuda::CUDACachingAllocator::malloc(unsigned long)", "??"},
                              {"at::_ops::addmm::redispatch(c10::DispatchKeySet)", "??"},
                              {"forward", kLinear},
                              {"main", "train.py"}})
                         .op);
  EXPECT_EQ("MulBackward0",
            site_of({{"torch::unwind::unwind()", "??"},
                     {"torch::autograd::generated::MulBackward0::apply(std::vector)", "??"}})
                .op);
  EXPECT_EQ("linear", site_of({{"torch::unwind::unwind()", "??"}, {"forward", kLinear}}).op);
}

TEST(RecordedSites, AnOpIsMoreThanTheFactoryOfItsResult) {
  EXPECT_EQ("_to_copy", site_of({{"at::_ops::empty_strided::redispatch(c10::DispatchKeySet)", "??"},
                                 {"at::_ops::_to_copy::call(at::Tensor const&)", "??"},
                                 {"main", "train.py"}})
                            .op);
  EXPECT_EQ("empty_memory_format",
            site_of({{"at::_ops::empty_memory_format::call()", "??"}, {"main", "train.py"}}).op);
  EXPECT_EQ("AddmmBackward0",
            site_of({{"at::_ops::mm::call(at::Tensor const&)", "??"},
                     {"torch::autograd::generated::AddmmBackward0::apply(std::vector)", "??"},
                     {"torch::autograd::Engine::thread_main()", "??"}})
                .op);
}

TEST(RecordedSites, NativeFramesAreNoPlace) {
  const HistorySite site = site_of({{"torch::unwind::unwind()", "??"},
                                    {"at::_ops::mm::call(at::Tensor const&)", "RegisterCUDA.cpp"}});
  EXPECT_EQ("", site.file);
  EXPECT_EQ("mm", site.op);
}

TEST(RecordedSites, AModuleIsTheInnermostThatFramesName) {
  const HistorySite site = site_of({{"at::_ops::addmm::call()", "??"},
                                    {"forward", kLinear},
                                    {"GPT.blocks.3.mlp", "<ohm record module>"},
                                    {"forward", "model.py"},
                                    {"GPT", "<ohm record module>"},
                                    {"main", "train.py"}});
  EXPECT_EQ("GPT.blocks.3.mlp", site.module);
  EXPECT_EQ("addmm", site.op);
  EXPECT_EQ("model.py", site.file);
  EXPECT_EQ("", site_of({{"forward", kLinear}, {"main", "train.py"}}).module);
}

TEST(RecordedSites, ALineIsTheInnermostOfTheProgramsOwn) {
  const HistorySite site =
      site_of({{"forward", kLinear}, {"forward", "model.py"}, {"main", "train.py"}});
  EXPECT_EQ("model.py", site.file);
  EXPECT_EQ(7, site.line);
}

}  // namespace
}  // namespace ohm::reports
