#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/exec/cuda_snapshot.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

constexpr std::size_t kMostLeakPlaces = 8;

std::string cuda_device_name(std::size_t device) { return fmt::format("cuda:{}", device); }

std::string cuda_bytes_text(std::int64_t bytes) {
  return human_bytes(static_cast<std::uint64_t>(bytes));
}

class CudaFindings {
 public:
  CudaFindings(const CudaRecord& record, const CudaSnapshot& shown)
      : record_(record), shown_(shown) {
    for (std::size_t i = 0; i < record.events.size(); ++i) {
      const CudaEvent& event = record.events[i];
      if (event.action != CudaEvent::Action::alloc) continue;
      requests_[{event.device, event.address}] = shown.events_before[i] + 1;
    }
  }

  std::vector<FindingResult> make() {
    for (const CudaMisuse& misuse : record_.misuses) add_misuse(misuse);
    // What a signal ends, or runs out of memory, had no time to free it.
    if (!record_.has_ended || record_.signal != 0) return std::move(findings_);
    for (std::size_t device = 0; device < record_.devices.size(); ++device) add_leaks(device);
    return std::move(findings_);
  }

 private:
  CudaPlace place(std::size_t stack) const {
    return stack < shown_.places.size() ? shown_.places[stack] : CudaPlace();
  }

  /// "main.cu:12": files in the folder of the process are named from there.
  std::string line_text(const std::string& file, int line) const {
    const std::string folder = record_.folder + "/";
    const bool is_within = folder.size() > 1 && file.starts_with(folder);
    return reports::place_text(is_within ? file.substr(folder.size()) : file, line);
  }

  /// "cudaFree in release, main.cu:12".
  std::string place_text(std::size_t stack) const {
    const CudaPlace one = place(stack);
    return fmt::format("{} in {}, {}", one.call, one.function, line_text(one.file, one.line));
  }

  /// ", called by main, main.cu:20", where one line does both.
  std::string caller_text(std::size_t stack, std::size_t other) const {
    const CudaPlace one = place(stack);
    if (one.caller.empty() || place_text(stack) != place_text(other)) return "";
    return fmt::format(", called by {}, {},", one.caller,
                       line_text(one.caller_file, one.caller_line));
  }

  std::int64_t events_before(std::uint64_t event) const {
    const std::uint64_t kept = event - std::min(event, record_.dropped);
    return kept < shown_.events_before.size() ? shown_.events_before[kept] : 0;
  }

  void add_misuse(const CudaMisuse& misuse) {
    const bool is_free = misuse.kind == CudaMisuse::Kind::freed_again;
    FindingResult& finding = findings_.emplace_back();
    finding.pitfall = is_free ? "double free" : "use after free";
    finding.device = cuda_device_name(misuse.device);
    finding.what =
        fmt::format("{}{} {} {} that {}{} had freed; requested by {}", place_text(misuse.stack),
                    caller_text(misuse.stack, misuse.freed_at), is_free ? "frees" : "uses",
                    cuda_bytes_text(misuse.bytes), place_text(misuse.freed_at),
                    caller_text(misuse.freed_at, misuse.stack), place_text(misuse.requested_at));
    if (misuse.times > 1) finding.what += fmt::format("; {} times", misuse.times);
    const CudaPlace at = place(misuse.stack);
    finding.evidence.push_back({events_before(misuse.events_before), misuse.bytes, misuse.times,
                                at.function, at.file, at.line});
  }

  /// The event that requested the block; 0: it was not kept.
  std::int64_t request_of(const CudaBlock& block) const {
    const auto found = requests_.find({block.device, block.address});
    return found == requests_.end() ? 0 : found->second;
  }

  void add_leaks(std::size_t device) {
    std::map<std::tuple<std::string, std::string, int>, FindingEvidence> places;
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
    for (const CudaBlock& block : record_.blocks) {
      if (block.device != device) continue;
      const CudaPlace at = place(block.stack);
      FindingEvidence& evidence = places[{at.file, at.function, at.line}];
      if (evidence.count == 0) {
        evidence = {request_of(block), 0, 0, at.function, at.file, at.line};
      }
      evidence.bytes += static_cast<std::int64_t>(block.bytes);
      ++evidence.count;
      bytes += static_cast<std::int64_t>(block.bytes);
      ++blocks;
    }
    if (blocks == 0) return;
    FindingResult& finding = findings_.emplace_back();
    finding.pitfall = "memory never freed";
    finding.device = cuda_device_name(device);
    finding.what =
        fmt::format("{} in {} block{} from {} place{}", cuda_bytes_text(bytes), blocks,
                    blocks == 1 ? "" : "s", places.size(), places.size() == 1 ? "" : "s");
    for (auto& [key, evidence] : places) finding.evidence.push_back(std::move(evidence));
    std::stable_sort(
        finding.evidence.begin(), finding.evidence.end(),
        [](const FindingEvidence& a, const FindingEvidence& b) { return a.bytes > b.bytes; });
    if (finding.evidence.size() > kMostLeakPlaces) finding.evidence.resize(kMostLeakPlaces);
  }

  const CudaRecord& record_;
  const CudaSnapshot& shown_;
  /// The last event that requested each block.
  std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> requests_;
  std::vector<FindingResult> findings_;
};

}  // namespace

std::vector<FindingResult> cuda_findings(const CudaRecord& record, const CudaSnapshot& shown) {
  return CudaFindings(record, shown).make();
}

}  // namespace ohm::engine
