// CUDA graphs and memory pools, as scripts use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class Graphs : public ScriptTest {
 protected:
  Graphs() : ScriptTest({.values = ValueMode::size_only}) {}

  std::string error(const std::string& chunk) {
    return error_of(
        "local cuda, g, x = ohm.cuda, ohm.cuda.CUDAGraph(), ohm.ones(1000, {device = 'cuda'})\n" +
        chunk);
  }
};

TEST_F(Graphs, KeepWhatWasCapturedApart) {
  EXPECT_EQ(error("local y\n"
                  "assert(not cuda.is_current_stream_capturing())\n"
                  "local result = cuda.graph(g, function()\n"
                  "  assert(cuda.is_current_stream_capturing())\n"
                  "  y = x * 2\n"
                  "  return 7\n"
                  "end)\n"
                  "assert(result == 7 and cuda.memory_reserved() == 4 << 20)\n"
                  "g:replay()\n"
                  "assert(cuda.memory_reserved() == 4 << 20)\n"
                  "y = nil\n"
                  "cuda.empty_cache()\n"
                  "assert(cuda.memory_reserved() == 4 << 20)\n"
                  "g = nil\n"
                  "cuda.empty_cache()\n"
                  "assert(cuda.memory_reserved() == 2 << 20)"),
            "");
}

TEST_F(Graphs, ShareAPool) {
  EXPECT_EQ(
      error("local other, y, z = cuda.CUDAGraph(), nil, nil\n"
            "cuda.graph(g, function() y = x * 2 end)\n"
            "cuda.graph(other, {pool = g:pool()}, function() z = x * 2 end)\n"
            "assert(cuda.memory_reserved() == 4 << 20)\n"
            "local id, own = g:pool(), cuda.graph_pool_handle()\n"
            "assert(id[1] == 1 and id[2] == 0 and own[1] == 2)\n"
            "local third, w = cuda.CUDAGraph(), nil\n"
            "cuda.graph(third, {pool = own, stream = cuda.Stream()}, function() w = x + 1 end)\n"
            "assert(third:pool()[1] == 2 and cuda.memory_reserved() == 6 << 20)"),
      "");
}

TEST_F(Graphs, AreCapturedOnAStreamOfTheProgram) {
  EXPECT_EQ(error("local s = cuda.Stream()\n"
                  "cuda.stream(s, function()\n"
                  "  g:capture_begin()\n"
                  "  local y = x * 2\n"
                  "  g:capture_end()\n"
                  "end)\n"
                  "g:reset()\n"
                  "cuda.stream(s, function() g:capture_begin({pool = cuda.graph_pool_handle()})\n"
                  "  g:capture_end() end)"),
            "");
}

TEST_F(Graphs, RefuseWhatTheHostWouldWaitFor) {
  for (const char* wait : {"x:sum():item()", "x:cpu()", "cuda.synchronize()",
                           "x:copy_(ohm.ones(1000))", "cuda.current_stream():synchronize()"}) {
    EXPECT_THAT(error("cuda.graph(g, function() local _ = " + std::string(wait) + " end)"),
                HasSubstr("operation not permitted when stream is capturing"))
        << wait;
  }
  EXPECT_EQ(error("pcall(cuda.graph, g, function() error('mine') end)\n"
                  "assert(not cuda.is_current_stream_capturing())\n"
                  "g:replay() x:sum():item()"),
            "");
}

TEST_F(Graphs, RefuseWhatTheyCannotDo) {
  const struct {
    const char* chunk;
    const char* message;
  } kCases[] = {
      {"g:replay()", "Called CUDAGraph::replay without a preceding successful capture."},
      {"g:pool()", "Called CUDAGraph::pool() without a preceding successful capture."},
      {"g:capture_end()", "no capture of this graph is going on"},
      {"g:capture_begin()", "must be captured on a non-default stream"},
      {"cuda.graph(g, function() end) cuda.graph(g, function() end)",
       "already owns a captured graph"},
      {"cuda.graph(g, function() cuda.graph(cuda.CUDAGraph(), function() end) end)",
       "another graph is being captured"},
      {"cuda.graph(7, function() end)", "argument 'cuda_graph' must be of type CUDAGraph"},
      {"cuda.graph(g, {pol = 1}, function() end)", "pol"},
      {"cuda.graph(g, {pool = {1}}, function() end)", "a pool, as pool() gives it"},
      {"cuda.graph(g, {stream = 3}, function() end)", "stream"},
      {"cuda.use_mem_pool(g, function() end)", "argument 'pool' must be of type MemPool"},
  };
  for (const auto& [chunk, message] : kCases)
    EXPECT_THAT(error(chunk), HasSubstr(message)) << chunk;
}

TEST_F(Graphs, MemoryPoolsServeAllStreamsOfAFunctionOrABlock) {
  EXPECT_EQ(error("local pool, y, z = cuda.MemPool(), nil, nil\n"
                  "assert(pool.id[1] == 0 and pool.id[2] == 1)\n"
                  "cuda.use_mem_pool(pool, function()\n"
                  "  y = x * 2\n"
                  "  cuda.stream(cuda.Stream(), function() z = x * 2 end)\n"
                  "end)\n"
                  "do local _ <close> = cuda.use_mem_pool(pool) y = x * 3 end\n"
                  "assert(cuda.memory_reserved() == 6 << 20)\n"
                  "y, z = nil, nil\n"
                  "cuda.empty_cache()\n"
                  "assert(cuda.memory_reserved() == 6 << 20)\n"
                  "pool = nil\n"
                  "assert(cuda.memory_reserved() == 2 << 20)"),
            "");
}

class GraphsWithValues : public ScriptTest {};

TEST_F(GraphsWithValues, AreRefused) {
  EXPECT_THAT(error_of("ohm.cuda.graph(ohm.cuda.CUDAGraph(), function() end)"),
              HasSubstr("graphs do not record values"));
}

}  // namespace
}  // namespace ohm::test
