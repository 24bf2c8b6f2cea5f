#include "reports/text/host_wordings.h"

#include <fmt/format.h>

#include <string>

#include "reports/text/measured_text.h"
#include "reports/text/wording_figures.h"

namespace ohm::reports {

const char* const kKilledText =
    "a process was killed by SIGKILL, as the kernel does when the host's own memory, not the "
    "GPU's, runs out";
const char* const kConfirmKill =
    "dmesg or the job's accounting tells whether it was; then load less at once (fewer DataLoader "
    "workers, weights shard by shard, memory-mapped files), or ask for more host memory.";
const char* const kLessOnTheHost =
    "Load less at once: fewer DataLoader workers, smaller batches, memory-mapped files.";

namespace {

using Match = std::cmatch;

constexpr const char* kMoreForTheJob =
    "Ask for more host memory for the job, or load less at once: fewer DataLoader workers, smaller "
    "batches.";
constexpr const char* kWorkOnParts = "Work on parts of the data, or raise the limit.";

std::string host_refused(const Match& /*match*/) {
  return "the host's own memory, not the GPU's: a request was refused";
}

std::string host_refused_bytes(const Match& m) {
  return fmt::format("the host's own memory, not the GPU's: a request of {} was refused",
                     bytes_text(number_of(m.str(1))));
}

std::string host_refused_figure(const Match& m) {
  return fmt::format("the host's own memory, not the GPU's: a request of {} {} was refused",
                     m.str(1), m.str(2));
}

std::string ended_at_limit(const Match& /*match*/) {
  return "the job was ended at its limit of the host's memory, not the GPU's";
}

std::string killed_by_signal(const Match& /*match*/) { return kKilledText; }

/// Of kernels, containers and batch systems.
std::vector<ForeignWording> wordings_of_systems() {
  return {
      {"The host", R"("reason": ?"OOMKilled"|"OOMKilled": ?true|\d+/\d+\s+OOMKilled\s)",
       [](const Match&) { return std::string("the kernel killed a container, at its limit"); },
       "Raise the container's memory limit, or load less at once: fewer DataLoader workers, "
       "smaller batches."},
      {"The host", R"(The node was low on resource: memory\.)",
       [](const Match&) {
         return std::string("Kubernetes evicted a pod from a node that ran low");
       },
       "Request as much memory as the job takes (resources.requests.memory), or load less at "
       "once."},
      {"The host",
       R"(A process of this unit has been killed by the OOM killer|Failed with result 'oom-kill')",
       [](const Match&) { return std::string("the kernel killed a process of a systemd unit"); },
       "Raise the unit's MemoryMax, or load less at once: fewer DataLoader workers, smaller "
       "batches."},
      {"The host", R"((\S{1,60}) invoked oom-killer: gfp_mask=)",
       [](const Match& m) {
         return fmt::format("the kernel had to kill a process when {} asked for memory", m.str(1));
       },
       kLessOnTheHost},
      {"The host", R"(OUT_OF_ME\+\s+0:125|\|OUT_OF_MEMORY\|0:125)", ended_at_limit,
       "Ask for more (sbatch --mem), or load less at once: fewer DataLoader workers, smaller "
       "batches."},
      {"The host", R"(TERM_MEMLIMIT: job killed after reaching LSF memory usage limit)",
       ended_at_limit, kMoreForTheJob},
      {"The host", R"(PBS: job killed: v?mem (\d+)kb exceeded limit (\d+)kb)",
       [](const Match& m) {
         return fmt::format("the job took {} of the host's memory, and {} are its limit",
                            bytes_text(1024 * number_of(m.str(1))),
                            bytes_text(1024 * number_of(m.str(2))));
       },
       kMoreForTheJob},
      {"The host",
       R"(OutOfMemoryError: Container killed due to memory usage|ran out-of-memory and exited with a non-zero status of 137)",
       ended_at_limit, kMoreForTheJob},
      {"The host", R"(\[WinError 1455\])",
       [](const Match&) {
         return std::string(
             "the host's own memory, not the GPU's: Windows's paging file is too "
             "small");
       },
       "Make the paging file larger, or start fewer processes: each DataLoader worker loads "
       "CUDA's libraries."},
      {"The host", R"(\[WinError 8\] Not enough memory)", host_refused, kLessOnTheHost},
  };
}

/// Of languages, and of libraries for data.
std::vector<ForeignWording> wordings_of_languages() {
  return {
      {"Dask", R"(Worker \S{1,80} \(pid=\d+\) exceeded (\d+)% memory budget\. Restarting)",
       [](const Match& m) {
         return fmt::format("a worker took {} % of its share of the host's memory", m.str(1));
       },
       "Use smaller partitions, fewer threads in each worker, or a larger memory_limit."},
      {"Java",
       R"(java\.lang\.OutOfMemoryError: (Java heap space|GC overhead limit exceeded|Direct buffer memory))",
       [](const Match& m) {
         return fmt::format("the Java machine's own limit, not the GPU's memory ({})", m.str(1));
       },
       "Raise -Xmx (spark.driver.memory, spark.executor.memory), or work on smaller parts."},
      {"Spark", R"(Container killed by YARN for exceeding (?:physical )?memory limits)",
       [](const Match&) {
         return std::string("a container took more of the host's memory than it had asked for");
       },
       "Raise spark.executor.memoryOverhead, or work on smaller partitions."},
      {"Node.js", R"(JavaScript heap out of memory)",
       [](const Match&) { return std::string("the heap of the host's process is at its limit"); },
       "Raise it (NODE_OPTIONS=--max-old-space-size=8192)."},
      {"Go", R"(fatal error: runtime: (?:cannot allocate|out of) memory)", host_refused,
       kLessOnTheHost},
      {"Arrow", R"(ArrowMemoryError: (?:malloc|realloc) of size (\d+) failed)", host_refused_bytes,
       kWorkOnParts, first_number},
      {"DuckDB",
       R"(Out of Memory Error: failed to (?:allocate|pin|offload) [\w ]{0,20}of size ([\d.]+) ([KMGT]?i?B|bytes))",
       host_refused_figure, kWorkOnParts, first_figure},
      {"R", R"(cannot allocate vector of size ([\d.]+) ([KMG]b))", host_refused_figure,
       kWorkOnParts,
       [](const Match& m) {
         return std::optional(number_of(m.str(1)) * binary_unit_of(m.str(2)));
       }},
  };
}

/// What may have other reasons.
std::vector<ForeignWording> wordings_of_kills() {
  return {
      {"The host", R"(Killed signal terminated program (\S{1,40}))",
       [](const Match& m) {
         return fmt::format(
             "the compiler ({}) was killed, as the kernel does when the host's own "
             "memory, not the GPU's, runs out",
             m.str(1));
       },
       "Compile fewer files at once (MAX_JOBS=2).", nullptr, false},
      {"The host",
       R"(exitcode ?: -9\b|exitcode\s+: -9\b|Signal 9 \(SIGKILL\) received by PID|died with <Signals\.SIGKILL: 9>|process \d+ terminated with signal SIGKILL\b|return code = -9\b|exit(?:ed with)? (?:code|status):? 137\b|Exit Code:\s+137\b|WorkerLostError: Worker exited prematurely: signal 9 \(SIGKILL\)|exit codes of the workers are \{[^}]{0,200}SIGKILL\(-9\))",
       killed_by_signal, kConfirmKill, nullptr, false},
      {"Python",
       R"(OSError: \[Errno 12\] Cannot allocate memory|\bMemoryError\b(?!:? ?\w*Unable)|'std::bad_alloc')",
       host_refused, kLessOnTheHost},
  };
}

}  // namespace

std::vector<ForeignWording> wordings_of_host() {
  std::vector<ForeignWording> rows = wordings_of_systems();
  for (const std::vector<ForeignWording>& more : {wordings_of_languages(), wordings_of_kills()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace ohm::reports
