#include "harness/sweep/command/call_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/exec/function_names.h"
#include "harness/exec/host_record.h"
#include "harness/process/file_bytes.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using interpose::CallKind;
using nlohmann::json;

std::uint64_t number_in(std::string_view hex) {
  std::uint64_t number = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  return number;
}

TracedCalls read_trace(const std::filesystem::path& path) {
  TracedCalls traced;
  traced.process = path.filename().string().substr(std::string("calls-").size());
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> known;
  std::map<std::string, std::uint64_t> numbers;
  std::ifstream lines(path);
  std::string call;
  std::string place;
  while (lines >> call >> place) {
    ++traced.calls;
    const auto [site, is_new] = known.try_emplace({call, number_in(place)}, traced.sites.size());
    if (is_new) {
      traced.sites.push_back({call, interpose::kind_of_call(call), number_in(place), {}});
    }
    traced.sites[site->second].numbers.push_back(++numbers[call]);
  }
  return traced;
}

/// The errors that calls of a kind return on real cards.
std::span<const FaultError> errors_of(CallKind kind) {
  using enum FaultError;
  // Most frequent first.
  static constexpr std::array kOfWork = {illegal_address, ecc_uncorrectable, launch_failure,
                                         device_lost, launch_timeout};
  static constexpr std::array kOfAllocations = {memory, device_lost};
  static constexpr std::array kOfQueries = {not_ready};
  static constexpr std::array kOfCollectives = {remote_error, system_error};
  static constexpr std::array kOfLibraries = {illegal_address, memory};
  static constexpr std::array kOfCreation = {memory};
  switch (kind) {
    case CallKind::launch:
    case CallKind::copy:
    case CallKind::wait:
      return kOfWork;
    case CallKind::allocation:
      return kOfAllocations;
    case CallKind::query:
      return kOfQueries;
    case CallKind::collective:
      return kOfCollectives;
    case CallKind::computation:
      return kOfLibraries;
    case CallKind::creation:
      return kOfCreation;
    case CallKind::preparation:
    case CallKind::other:
      return {};
  }
  return {};
}

/// The rank that faults of a job are injected into.
bool is_first_rank(const std::string& folder, const std::string& process) {
  const json end =
      reports::json_or_discarded(read_file_bytes(folder + "/ended-" + process + ".json"));
  return end.is_object() && end.value("rank", -1) == 0;
}

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> rows;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    rows.push_back(reports::json_or_discarded(line));
  }
  return rows;
}

/// "+ADDRESS" of the program, or "FILE+ADDRESS".
HostFrame frame_of(const std::string& word, const std::string& program) {
  const std::size_t plus = word.rfind('+');
  const std::string file = word.substr(0, plus);
  return {file.empty() ? program : file, number_in(word.substr(plus + 1))};
}

using Stacks = std::map<std::uint64_t, std::vector<HostFrame>>;

Stacks read_stacks(const std::string& path, const std::string& program) {
  Stacks stacks;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string place;
    words >> place;
    std::vector<HostFrame>& frames = stacks[number_in(place)];
    for (std::string word; words >> word;) frames.push_back(frame_of(word, program));
  }
  return stacks;
}

/// What a compiler makes for `<<<>>>`, and CUDA's templates around its functions.
bool is_of_cuda(std::string_view function) {
  return function.find("cudaError cuda") != std::string_view::npos ||
         function.starts_with("__device_stub__") ||
         function.starts_with("__wrapper__device_stub") ||
         function.find("cudaLaunchKernel") != std::string_view::npos;
}

/// The innermost function of the program itself; where it has none, of a library.
void name_place(SweepPoint& point, const std::vector<HostFrame>& frames, const std::string& program,
                ProgramFunctions& functions) {
  for (const HostFrame& frame : frames) {
    const std::string function = function_of(frame, functions);
    point.stack.insert(point.stack.begin(), function);
    const bool is_own = frame.module == program && !is_of_cuda(function);
    if (is_own && point.file.empty()) point.file = function;
  }
  if (point.file.empty() && !frames.empty()) point.file = point.stack.back();
}

void name_place(SweepPoint& point, const json& row) {
  if (!row.is_object()) return;
  point.file = row.at("file");
  point.line = row.at("line");
  point.stack = row.at("stack").get<std::vector<std::string>>();
}

}  // namespace

TracedCalls read_call_traces(const std::string& folder) {
  TracedCalls most;
  bool is_rank = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("calls-")) continue;
    TracedCalls traced = read_trace(entry.path());
    const bool is_first = is_first_rank(folder, traced.process);
    const bool is_better = is_first != is_rank ? is_first : traced.calls > most.calls;
    if (!is_better) continue;
    most = std::move(traced);
    is_rank = is_first;
  }
  return most;
}

namespace {

/// In this order faults are tried, as many as there is room for.
class FaultOrder {
 public:
  explicit FaultOrder(const std::vector<CallSite>& sites) : sites_(sites) {
    for (std::size_t index = 0; index < sites.size(); ++index) {
      const auto [most, is_new] = busiest_.try_emplace(sites[index].call, index);
      const bool is_busier = sites[index].numbers.size() > sites[most->second].numbers.size();
      if (is_busier) most->second = index;
    }
  }

  /// `part` of a site's calls, from 0 to 1.
  void add(double part) {
    for (std::size_t round = 0; round < kMostErrors; ++round) {
      // Each function once, where it is called most, before its other sites.
      add_round(round, part, /*of_busiest=*/true);
      add_round(round, part, /*of_busiest=*/false);
    }
  }
  const std::vector<CallFault>& faults() const { return faults_; }

 private:
  static constexpr std::size_t kMostErrors = 5;

  void add_round(std::size_t round, double part, bool of_busiest) {
    std::map<CallKind, std::size_t> of_kind;
    for (std::size_t index = 0; index < sites_.size(); ++index) {
      const CallSite& site = sites_[index];
      const std::span<const FaultError> errors = errors_of(site.kind);
      const std::size_t turn = of_kind[site.kind]++;
      const bool is_busiest = busiest_.at(site.call) == index;
      if (round >= errors.size() || is_busiest != of_busiest) continue;
      const auto last = static_cast<double>(site.numbers.size() - 1);
      const auto at = static_cast<std::size_t>(last * part);
      const CallFault fault{index, errors[(turn + round) % errors.size()], site.numbers[at]};
      if (known_.insert({index, fault.error, fault.number}).second) faults_.push_back(fault);
    }
  }

  const std::vector<CallSite>& sites_;
  std::map<std::string_view, std::size_t> busiest_;  ///< site of each function
  std::set<std::tuple<std::size_t, FaultError, std::uint64_t>> known_;
  std::vector<CallFault> faults_;
};

}  // namespace

ChosenCallFaults chosen_call_faults(const std::vector<CallSite>& sites, const PointChoice& points,
                                    std::size_t most) {
  FaultOrder order(sites);
  order.add(0.5);
  const std::size_t in_the_middle = order.faults().size();
  order.add(0.0);
  order.add(1.0);
  ChosenCallFaults chosen;
  chosen.faults = order.faults();
  const std::size_t all = chosen.faults.size();
  const bool has_all_calls = points.kind != PointChoice::Kind::spread;
  chosen.faults.resize(std::min(most, has_all_calls ? all : in_the_middle));
  chosen.left_out = all - chosen.faults.size();
  std::sort(chosen.faults.begin(), chosen.faults.end(), [](const CallFault& a, const CallFault& b) {
    return std::tie(a.site, a.number, a.error) < std::tie(b.site, b.number, b.error);
  });
  return chosen;
}

std::vector<SitePoint> points_of_sites(const TracedCalls& traced, const std::string& folder,
                                       const std::string& program) {
  const std::vector<json> rows = lines_of(folder + "/places-" + traced.process);
  const Stacks stacks = read_stacks(folder + "/stacks-" + traced.process, program);
  ProgramFunctions functions;
  std::vector<SitePoint> points;
  for (const CallSite& site : traced.sites) {
    SitePoint& named = points.emplace_back();
    SweepPoint& point = named.point;
    point.level = name_of(FaultLevel::call);
    point.device = "cuda";
    point.op = site.call;
    point.passes = static_cast<std::int64_t>(site.numbers.size());
    const auto stack = stacks.find(site.place);
    if (stack != stacks.end()) {
      name_place(point, stack->second, program, functions);
    } else if (site.place > 0 && site.place <= rows.size()) {
      name_place(point, rows[site.place - 1]);
    }
    PointHash hash;
    hash.add(site.call).add(point.file).add(static_cast<std::uint64_t>(point.line));
    for (const std::string& frame : point.stack) hash.add(frame);
    named.number = hash.value();
    point.point = fault_point_text(named.number, 0);
  }
  return points;
}

std::string plan_text(const CallSite& site, const CallFault& fault) {
  return fmt::format("call({}) & nth({}) -> error({})", site.call, fault.number,
                     row_of(fault.error).name);
}

}  // namespace ohm::engine
