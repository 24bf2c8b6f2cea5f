#include "harness/fit/fit_basis.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "allocator_shim/base/size_policy.h"
#include "reports/history/recorded_sites.h"
#include "reports/history/user_frames.h"

namespace ohm::engine {

namespace {

class Basis {
 public:
  Basis(const ComparedRecordings& compared, const ValuePrediction& prediction)
      : compared_(compared), prediction_(prediction) {}

  FitBasis at(std::int64_t value) {
    add_recordings();
    for (std::size_t gpu = 0; gpu < compared_.gpus(); ++gpu) {
      const MatchedRequests& matched = compared_.matched(gpu);
      basis_.steps = std::max(basis_.steps, static_cast<std::int64_t>(matched.steps()));
      basis_.is_cut = basis_.is_cut || matched.is_cut();
      basis_.has_one_order = basis_.has_one_order && matched.has_one_order();
      for (const SizeLaw& law : matched.laws()) count(law);
    }
    basis_.holders_at = value;
    add_holders(value);
    return std::move(basis_);
  }

 private:
  void add_recordings() {
    for (std::size_t i = 0; i < compared_.recordings().size(); ++i) {
      FitRecording& recording = basis_.recordings.emplace_back();
      recording.file = compared_.recordings()[i].file;
      recording.value = compared_.recordings()[i].value;
      for (std::size_t gpu = 0; gpu < compared_.gpus(); ++gpu) {
        const MatchedRequests& matched = compared_.matched(gpu);
        recording.requests += static_cast<std::int64_t>(matched.compared(i).requests);
        recording.unmatched += static_cast<std::int64_t>(matched.left_over(i).requests);
        recording.unmatched_bytes += static_cast<std::int64_t>(matched.left_over(i).bytes);
      }
    }
  }

  void count(const SizeLaw& law) {
    const bool is_unchecked = !law.is_checked() && law.shape() != SizeShape::irregular;
    basis_.unchecked += is_unchecked ? 1 : 0;
    switch (law.shape()) {
      case SizeShape::constant:
        ++basis_.constant;
        return;
      case SizeShape::line:
        ++basis_.lines;
        return;
      case SizeShape::curve:
        ++basis_.curves;
        return;
      case SizeShape::irregular:
        ++basis_.irregular;
        return;
    }
  }

  // ---- who holds the peak ---------------------------------------------------------------------

  struct Peak {
    std::size_t bytes = 0;
    std::size_t event = 0;
  };

  /// Of blocks as large as requests are rounded to.
  Peak peak_of(std::size_t gpu, std::int64_t value) const {
    const VerifiedHistory& history = of(gpu);
    const auto rounded = [&](std::uint32_t life) {
      return round_request(bytes_of(gpu, life, value), prediction_.settings());
    };
    std::size_t now = 0;
    for (const std::uint32_t life : history.lives().before) now += rounded(life);
    Peak peak = {now, 0};
    const std::size_t end = compared_.matched(gpu).end(prediction_.largest());
    for (std::size_t i = history.first_event(); i < end; ++i) {
      const std::uint32_t life = history.lives().life_of[i];
      if (life == kNever) continue;
      const BlockLife& block = history.lives().lives[life];
      if (block.allocated_at == i) now += rounded(life);
      if (last_of(block) == i) now -= rounded(life);
      if (now > peak.bytes) peak = {now, i};
    }
    return peak;
  }

  static std::uint32_t last_of(const BlockLife& block) {
    return block.completed_at != kNever ? block.completed_at : block.freed_at;
  }

  void add_holders(std::int64_t value) {
    std::size_t fullest = 0;
    Peak peak;
    for (std::size_t gpu = 0; gpu < compared_.gpus(); ++gpu) {
      const Peak other = peak_of(gpu, value);
      if (other.bytes <= peak.bytes) continue;
      peak = other;
      fullest = gpu;
    }
    add_holders(fullest, peak.event, value);
  }

  void add_holders(std::size_t gpu, std::size_t event, std::int64_t value) {
    const VerifiedHistory& history = of(gpu);
    const Snapshot& snapshot = compared_.largest().snapshot;
    const auto device = static_cast<std::size_t>(history.history().device);
    reports::RecordedSites sites(snapshot.tables, /*has_stacks=*/true,
                                 reports::user_files_of(snapshot));
    std::map<std::tuple<std::string, int, std::string>, FitHolder> holders;
    const std::vector<BlockLife>& lives = history.lives().lives;
    for (std::uint32_t life = 0; life < lives.size(); ++life) {
      const BlockLife& block = lives[life];
      const bool is_alive =
          !block.began_before() && block.allocated_at <= event && event < last_of(block);
      const SizeLaw* const law = law_of(gpu, life);
      if (!is_alive || (law != nullptr && law->shape() == SizeShape::constant)) continue;
      const HistorySite& site =
          sites.at(sites.of(snapshot.device_traces[device][block.allocated_at].stack));
      const auto [known, is_new] = holders.try_emplace({site.file, site.line, site.op});
      FitHolder& holder = known->second;
      if (is_new) holder = {site.op, site.file, site.line, 0, 0, 0, 0, true};
      ++holder.blocks;
      holder.bytes += static_cast<std::int64_t>(bytes_of(gpu, life, value));
      holder.is_line = holder.is_line && law != nullptr && law->shape() == SizeShape::line;
      if (law == nullptr) continue;
      holder.fixed_bytes += law->fixed_bytes();
      holder.bytes_per_unit += law->bytes_per_unit();
    }
    for (auto& [place, holder] : holders) {
      if (!holder.is_line) holder.fixed_bytes = holder.bytes_per_unit = 0;
      basis_.holders.push_back(std::move(holder));
    }
    std::stable_sort(basis_.holders.begin(), basis_.holders.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

  const VerifiedHistory& of(std::size_t gpu) const {
    return compared_.at(prediction_.largest(), gpu).history;
  }
  const SizeLaw* law_of(std::size_t gpu, std::uint32_t life) const {
    return compared_.matched(gpu).law_of(prediction_.largest(), life);
  }
  std::size_t bytes_of(std::size_t gpu, std::uint32_t life, std::int64_t value) const {
    return prediction_.bytes_of(prediction_.largest(), gpu, life, value, &SizeRange::likely);
  }

  const ComparedRecordings& compared_;
  const ValuePrediction& prediction_;
  FitBasis basis_;
};

}  // namespace

FitBasis basis_of(const ComparedRecordings& compared, const ValuePrediction& prediction,
                  std::int64_t value) {
  return Basis(compared, prediction).at(value);
}

}  // namespace ohm::engine
