// The differences of two results: every figure, and what makes up the difference of a peak.
//
// Lines are the same when their op and their text are, wherever they stand: code that moved is not
// a change. The changes of a device's holders add up to the change of its peak, exactly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// A figure of a device that is compared.
struct DeviceFigure {
  std::string_view name;  ///< as in JSON
  Unit unit;
  std::int64_t DeviceResult::*member;
};
std::span<const DeviceFigure> device_figures();

/// A figure of the host that is compared, in bytes.
struct HostFigure {
  std::string_view name;  ///< as in limits
  std::int64_t HostResult::*member;
};
std::span<const HostFigure> host_figures();

struct FigureChange {
  std::string figure;  ///< "peak_allocated_bytes", "steps"
  Unit unit = Unit::bytes;
  std::int64_t before = 0;
  std::int64_t after = 0;

  std::int64_t change() const { return after - before; }
};

struct HolderChange {
  enum class Kind : std::uint8_t {
    appeared,
    gone,
    grown,
    shrunk,
    recategorized,    ///< as many bytes, for another purpose
    moved_into_peak,  ///< was there before too, but not at the peak; told where histories are
    moved_out_of_peak,
  };
  Kind kind = Kind::grown;
  Category category = Category::other;  ///< after; before where it is gone
  std::string op;
  std::string file;  ///< where it stands after; before where it is gone
  int line = 0;
  std::string text;
  std::int64_t bytes_before = 0;
  std::int64_t bytes_after = 0;
  std::int64_t blocks_before = 0;
  std::int64_t blocks_after = 0;
  Category category_before = Category::other;  ///< of recategorized

  std::int64_t change() const { return bytes_after - bytes_before; }
};

std::string_view name_of(HolderChange::Kind kind);

struct DeviceDiff {
  std::string device;
  std::vector<FigureChange> figures;  ///< those that differ
  std::vector<HolderChange> holders;  ///< largest change first
  /// Of the peak, where one of the results does not say what made it up.
  std::int64_t unexplained_bytes = 0;
};

struct VariantDiff {
  std::string scenario;
  std::string variant;
  /// "only in the first", "OOM in step 30 became completed", …; empty: nothing of the kind.
  std::vector<std::string> notes;
  std::vector<FigureChange> figures;  ///< of no device
  std::vector<DeviceDiff> devices;    ///< those with a difference

  bool is_equal() const { return notes.empty() && figures.empty() && devices.empty(); }
};

struct ResultDiff {
  std::vector<VariantDiff>
      variants;              ///< those with a difference, in the order of the second result
  std::size_t compared = 0;  ///< variants that are in both
};

/// Both variants are of the scenarios given, whose source lines give the histories their texts.
VariantDiff diff_variants(const VariantResult& before, const VariantResult& after,
                          const ScenarioResult& scenario_before,
                          const ScenarioResult& scenario_after);

/// Variants are matched by the names of scenario and variant; where each result is one variant, by
/// its name alone.
ResultDiff diff_results(const RunResult& before, const RunResult& after);

}  // namespace ohm::reports
