// Messages and snapshots about which wrong conclusions were drawn once, each with what is true of
// it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "reports/console/oom_explanation.h"
#include "reports/console/why_text.h"
#include "reports/history/snapshot_result.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"

namespace ohm::reports {
namespace {

using test::contains;
using test::on_one_line;

std::string file_text(const std::string& name) {
  std::ifstream file(test::golden_path("diagnosis/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct LogCase {
  const char* file;
  std::vector<const char*> says;
  std::vector<const char*> says_not;
};

TEST(DiagnosisCases, LogsSayWhatTheirFiguresBearOut) {
  const std::vector<LogCase> cases = {
      {"03_torch1x_reserved.txt",
       {"3.17 GiB in the cache and 2.44 GiB on the card are enough together",
        "This PyTorch has no setting against it"},
       {"expandable_segments", "enough bytes are free", "_record_memory_history"}},
      {"08_private_pools.txt",
       {"Tensors hold 27.25 GiB", "Private pools of CUDA graphs hold 24.90 GiB",
        "this process outside the allocator 25.44 GiB"},
       {"own tensors fill"}},
      {"20_jax_old.txt", {"JAX ran out of memory", "5.14 GiB"}, {"TensorFlow"}},
      {"31_nccl.txt", {"NCCL ran out of memory", "the GPU refused"}, {}},
      {"34_killed.txt", {"killed by SIGKILL", "not the GPU's"}, {"ran out of memory"}},
      {"40_pin_memory.txt",
       {"PyTorch on the host", "the host's own memory, not the GPU's", "pin_memory=False"},
       {"nvidia-smi"}},
      {"47_memory_summary.txt",
       {"GPU 0: tensors hold 31.27 GiB now and 31.27 GiB at the peak", "1 out-of-memory error,"},
       {}},
      {"54_process_nonpytorch.txt",
       {"40.00 GiB of this process are outside PyTorch's allocator", "Tensors hold 38.02 GiB"},
       {"own tensors fill", "smaller batch"}},
      {"63_vllm_new.txt",
       {"Suggestion: Lower max_num_seqs or gpu_memory_utilization."},
       {"no_grad", "checkpointing"}}};
  for (const LogCase& one : cases) {
    const std::optional<CrashLog> log = parse_crash_log(file_text(one.file));
    ASSERT_TRUE(log) << one.file;
    const std::string why = on_one_line(why_text(*log, 100));
    for (const char* words : one.says) EXPECT_TRUE(contains(why, words)) << one.file << ": " << why;
    for (const char* words : one.says_not) {
      EXPECT_FALSE(contains(why, words)) << one.file << ": " << why;
    }
    if (!log->message) continue;
    // The long explanation agrees.
    const std::string explained =
        on_one_line(explained_oom_message(*log->message, circumstances_of(*log), 100));
    for (const char* words : one.says_not) {
      EXPECT_FALSE(contains(explained, words)) << one.file << ": " << explained;
    }
  }
}

std::string why_of_snapshot(const std::string& name) {
  const std::string path = test::golden_path("diagnosis/" + name);
  return on_one_line(why_text(snapshot_result(read_snapshot_file(path), path), "", 100));
}

TEST(DiagnosisCases, SnapshotsOfEveryFormatNameTheirLines) {
  struct SnapshotCase {
    const char* file;
    const char* says;
  };
  const std::vector<SnapshotCase> cases = {
      {"B_torch20_history.pickle", "/home/user/serve.py:190: 64.00 MiB in 2 blocks"},
      {"memory_snapshot_1_11.pickle", "9.00 MiB in 1 block, has no line"},
      {"memory_snapshot_1_13.pickle", "/home/user/train.py:31: 9.00 MiB in 1 block"},
      {"no_events_2_3.pickle", "/home/user/serve.py:12: 9.00 MiB in 1 block"}};
  for (const auto& [file, says] : cases) {
    const std::string why = why_of_snapshot(file);
    EXPECT_TRUE(contains(why, says)) << file << ": " << why;
    EXPECT_TRUE(contains(why, "does not tell whether memory ran out")) << file << ": " << why;
    EXPECT_FALSE(contains(why, "Nothing ran out of memory")) << file << ": " << why;
  }
}

TEST(DiagnosisCases, PathsOfWindowsAreWhole) {
  const std::string why = why_of_snapshot("W_windows_paths.pickle");
  EXPECT_TRUE(contains(why, "activation of linear, C:\\work\\project\\train.py:31: 9.00 MiB"))
      << why;
}

}  // namespace
}  // namespace ohm::reports
