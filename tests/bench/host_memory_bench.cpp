// What a malloc and its free cost a program that libohm_host.so is preloaded into, beside libfiu in
// the same run: nanoseconds, the median of many turns in which each takes its turn.
//
//     build/release/tests/bench/host_memory_bench
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Preloaded {
  std::string name;
  std::string library;  ///< empty: none
  std::vector<std::pair<std::string, std::string>> environment;
};

constexpr const char* kTimed = "--timed";

/// Of a malloc of 64 bytes and its free.
double nanoseconds() {
  using Clock = std::chrono::steady_clock;
  constexpr int kPairs = 200'000;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kPairs; ++i) {
    void* const block = std::malloc(64);
    // The compiler must not know that nobody looks at it.
    asm volatile("" : : "r"(block) : "memory");
    std::free(block);
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kPairs;
}

int print_timed() {
  std::array<double, 15> turns = {};
  for (double& turn : turns) turn = nanoseconds();
  std::sort(turns.begin(), turns.end());
  std::printf("%f\n", turns[turns.size() / 2]);
  return 0;
}

double timed(const char* self, const Preloaded& preloaded) {
  std::string command = "env";
  for (const auto& [name, value] : preloaded.environment) {
    command += fmt::format(" {}='{}'", name, value);
  }
  if (!preloaded.library.empty()) command += " LD_PRELOAD='" + preloaded.library + "'";
  command += fmt::format(" {} {}", self, kTimed);
  FILE* const pipe = popen(command.c_str(), "r");
  double result = 0;
  const bool is_read = pipe != nullptr && std::fscanf(pipe, "%lf", &result) == 1;
  if (pipe != nullptr) pclose(pipe);
  if (!is_read) std::fprintf(stderr, "%s: nothing was timed\n", command.c_str());
  return is_read ? result : -1;
}

/// What fiu-run -x preloads; empty where it is not installed.
std::string libfiu() {
  for (const char* folder : {"/usr/lib/fiu", "/usr/local/lib/fiu"}) {
    const std::string start = std::string(folder) + "/fiu_run_preload.so";
    const std::string posix = std::string(folder) + "/fiu_posix_preload.so";
    if (std::filesystem::exists(start) && std::filesystem::exists(posix)) {
      return fmt::format("{} {}", start, posix);
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == kTimed) return print_timed();
  std::vector<Preloaded> all = {
      {"nothing preloaded", "", {}},
      {"libohm_host, idle", OHM_HOST_LIBRARY, {}},
      {"libohm_host, armed", OHM_HOST_LIBRARY, {{"OHM_HOST_FAULT", "nth(1000000000)"}}},
      {"libohm_host, recording", OHM_HOST_LIBRARY, {{"OHM_HOST_LIMIT", "1000000000000"}}},
  };
  if (libfiu().empty()) {
    std::puts("libfiu is not installed (fiu-utils): nothing to compare with");
  } else {
    all.push_back({"libfiu, idle", libfiu(), {}});
  }
  constexpr int kRounds = 9;
  std::vector<std::vector<double>> turns(all.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) turns[i].push_back(timed(argv[0], all[i]));
  }
  double alone = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::sort(turns[i].begin(), turns[i].end());
    const double median = turns[i][turns[i].size() / 2];
    if (i == 0) alone = median;
    fmt::print("{:<24} {:>8.1f} ns  {:>+8.1f} ns\n", all[i].name, median, median - alone);
  }
}
