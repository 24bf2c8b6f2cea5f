#include "reports/history/library_lines.h"
#include "tests/reports/history/torch_files.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace ohm::reports {
namespace {

/// A frame: its file, line and function.
using LineFrame = std::tuple<const char*, int, const char*>;

struct Call {
  std::string op;
  std::vector<LineFrame> frames;  ///< innermost first
};

std::vector<std::string> lines_of(const std::vector<Call>& calls) {
  StackTable tables;
  std::vector<LibraryCall> recorded;
  for (const Call& call : calls) {
    std::vector<FrameId> ids;
    for (const auto& [file, line, function] : call.frames) {
      StackFrame frame;
      frame.filename = tables.intern(file);
      frame.name = tables.intern(function);
      frame.line = line;
      ids.push_back(tables.intern(frame));
    }
    recorded.push_back({tables.intern(ids), call.op});
  }
  return library_lines(tables, UserFiles(), recorded);
}

using Lines = std::vector<std::string>;

constexpr const char* kLlama =
    "/venv/lib/python3.11/site-packages/transformers/models/llama/modeling_llama.py";
constexpr const char* kNorm =
    "/venv/lib/python3.11/site-packages/torch/nn/modules/normalization.py";
constexpr const char* kTransformer =
    "/venv/lib/python3.11/site-packages/torch/nn/modules/transformer.py";
constexpr const char* kBitsandbytes =
    "/venv/lib/python3.11/site-packages/bitsandbytes/nn/modules.py";
constexpr LineFrame kOwn = {"train.py", 50, "main"};

TEST(LibraryLines, OneThatManyShareIsToldByThePackagesLine) {
  EXPECT_EQ((Lines{"transformers/models/llama/modeling_llama.py:216 forward",
                   "transformers/models/llama/modeling_llama.py:300 forward",
                   "transformers/models/llama/modeling_llama.py:301 forward"}),
            lines_of({{"mul", {{kLlama, 216, "forward"}, {kModule, 1, "_call_impl"}, kOwn}},
                      {"linear", {{kLinear, 116, "forward"}, {kLlama, 300, "forward"}, kOwn}},
                      {"linear", {{kLinear, 116, "forward"}, {kLlama, 301, "forward"}, kOwn}}}));
}

TEST(LibraryLines, PyTorchsOwnTellWhatTheOpDoesNot) {
  EXPECT_EQ(
      (Lines{"torch/nn/modules/transformer.py:936 forward",
             "torch/nn/modules/transformer.py:939 forward", ""}),
      lines_of({{"layer_norm", {{kNorm, 217, "forward"}, {kTransformer, 936, "forward"}, kOwn}},
                {"layer_norm", {{kNorm, 217, "forward"}, {kTransformer, 939, "forward"}, kOwn}},
                {"linear", {{kLinear, 116, "forward"}, {kTransformer, 950, "forward"}, kOwn}}}));
}

TEST(LibraryLines, WhereAPackagesInnermostLineIsTheSameTheCallerTells) {
  EXPECT_EQ(
      (Lines{"transformers/models/llama/modeling_llama.py:216 forward",
             "transformers/models/llama/modeling_llama.py:300 forward"}),
      lines_of(
          {{"matmul_4bit", {{kBitsandbytes, 468, "forward"}, {kLlama, 216, "forward"}, kOwn}},
           {"matmul_4bit", {{kBitsandbytes, 468, "forward"}, {kLlama, 300, "forward"}, kOwn}}}));
}

TEST(LibraryLines, OneThatNoOtherSharesSaysNothingMore) {
  EXPECT_EQ((Lines{"", ""}), lines_of({{"mul", {{kLlama, 216, "forward"}, kOwn}},
                                       {"silu", {{kLlama, 216, "forward"}, kOwn}}}));
  EXPECT_EQ(Lines{""}, lines_of({{"randn", {kOwn}}}));
}

TEST(LibraryLines, WithoutALibraryBehindItACallHasNone) {
  EXPECT_EQ((Lines{"", "transformers/models/llama/modeling_llama.py:216 forward"}),
            lines_of({{"add", {kOwn}}, {"silu", {{kLlama, 216, "forward"}, kOwn}}}));
}

}  // namespace
}  // namespace ohm::reports
