#include "harness/run/retention_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

#include "harness/machine/snapshot_file.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {

namespace {

/// Where to look: the first moment at which this many events have happened.
struct ProbePoint {
  int gpu = 0;
  std::uint64_t events = 0;
  bool is_out_of_memory = false;
};

std::optional<ProbePoint> point_of(const MeasuredVariant& measured) {
  ProbePoint point;
  if (measured.outcome == Outcome::oom) {
    for (std::size_t i = 0; i < measured.devices.size(); ++i) {
      if (!measured.oom || measured.devices[i].device != measured.oom->device) continue;
      point.gpu = static_cast<int>(i);
      point.events = measured.oom_event.value_or(0);
      point.is_out_of_memory = true;
      return point;
    }
    return std::nullopt;
  }
  if (measured.outcome != Outcome::completed) return std::nullopt;
  const auto fullest = std::max_element(measured.devices.begin(), measured.devices.end(),
                                        [](const DeviceResult& a, const DeviceResult& b) {
                                          return a.peak_allocated_bytes < b.peak_allocated_bytes;
                                        });
  const bool is_used = fullest != measured.devices.end() && fullest->peak_allocated_bytes > 0;
  if (!is_used || !fullest->peak) return std::nullopt;
  point.gpu = static_cast<int>(fullest - measured.devices.begin());
  point.events = static_cast<std::uint64_t>(fullest->peak->event) + 1;
  return point;
}

/// Nothing that this process prints goes anywhere while it lives.
class SilentOutput {
 public:
  SilentOutput() {
    std::fflush(nullptr);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (std::size_t i = 0; i < kStreams.size(); ++i) {
      saved_[i] = ::fcntl(kStreams[i], F_DUPFD_CLOEXEC, 3);
      ::dup2(nowhere, kStreams[i]);
    }
    ::close(nowhere);
  }
  ~SilentOutput() {
    std::fflush(nullptr);
    for (std::size_t i = 0; i < kStreams.size(); ++i) {
      ::dup2(saved_[i], kStreams[i]);
      ::close(saved_[i]);
    }
  }
  SilentOutput(const SilentOutput&) = delete;
  SilentOutput& operator=(const SilentOutput&) = delete;

 private:
  static constexpr std::array<int, 2> kStreams = {STDOUT_FILENO, STDERR_FILENO};
  std::array<int, 2> saved_ = {};
};

class ProbeRun final : public RunContext {
 public:
  ProbeRun(Machine& machine, ScenarioProgram& program, const ProbePoint& point)
      : machine_(machine), program_(program), point_(point) {
    if (point.is_out_of_memory) {
      machine_.on_out_of_memory(
          [this](int /*device*/, const OutOfMemoryReport& /*report*/) { look_if_due(); });
    } else {
      machine_.on_allocation([this](int /*device*/) { look_if_due(); });
    }
  }
  ~ProbeRun() override {
    machine_.on_out_of_memory(nullptr);
    machine_.on_allocation([](int /*device*/) {});
  }

  void mark_step() override {}
  void dump_snapshot(const std::string& path) override {
    check_script_snapshot_path(path);
    machine_.record_snapshot();
  }
  Machine& machine() override { return machine_; }

  std::optional<RetentionResult> take() { return std::move(result_); }

 private:
  void look_if_due() {
    const std::uint64_t events = machine_.events().dropped() + machine_.events().size();
    if (result_ || events < point_.events) return;
    BlockSizes blocks;
    for (const LiveBlock& block : machine_.requests(point_.gpu).live_blocks()) {
      if (!block.pending_free) blocks[block.address] = block.bytes;
    }
    RetentionResult result = program_.retention(point_.gpu, blocks);
    result.device = Device::cuda(point_.gpu).str();
    result.bytes = machine_.allocated_bytes(point_.gpu);
    result.other_bytes = result.bytes;
    for (const RetainedResult& entry : result.entries) result.other_bytes -= entry.bytes;
    result_ = std::move(result);
  }

  Machine& machine_;
  ScenarioProgram& program_;
  ProbePoint point_;
  std::optional<RetentionResult> result_;
};

}  // namespace

std::optional<RetentionResult> probe_retention(const ScenarioLoader& loader,
                                               const LoadRequest& request,
                                               const std::string& variant,
                                               const MachineOptions& options,
                                               const MeasuredVariant& measured) {
  const std::optional<ProbePoint> point = point_of(measured);
  if (!point) return std::nullopt;
  const SilentOutput silence;
  Machine machine(options);
  const ContextGuard guard(machine.context());
  const std::unique_ptr<ScenarioProgram> program = loader(request);
  machine.add_gpus();
  ProbeRun run(machine, *program, *point);
  try {
    program->run(variant, run);
  } catch (const OutOfMemory&) {
    // It ends as the first run did; why, that one has said.
  }
  return run.take();
}

}  // namespace ohm::engine
