#include "harness/sweep/body_sweep.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <stdexcept>
#include <vector>

#include "harness/sweep/call_recorder.h"

namespace ohm::engine {

namespace {

/// The smallest fault plan: one request by its number, without a look at where it comes from.
class Countdown final : public FaultSource {
 public:
  bool should_fail(const FaultCandidate& call) override {
    if (call.device < 0 || !is_request(call.level)) return false;
    ++calls_;
    const bool fails =
        form_ == FaultForm::transient ? calls_ == target_ : target_ != 0 && calls_ >= target_;
    if (!fails) return false;
    if (++faults_ >= CallRecorder::kFailuresOfAHang) throw NoProgress();
    return true;
  }
  std::uint64_t faults() const override { return static_cast<std::uint64_t>(faults_); }
  const std::string& text() const override { return text_; }

  /// From the next call on; a target of 0 fails nothing.
  void arm(std::int64_t target, FaultForm form) {
    calls_ = faults_ = 0;
    target_ = target;
    form_ = form;
  }
  std::int64_t calls() const { return calls_; }

  /// No error of the body's: no script may handle it.
  struct NoProgress : std::exception {
    const char* what() const noexcept override { return "one request fails over and over"; }
  };

 private:
  std::int64_t calls_ = 0;
  std::int64_t faults_ = 0;
  std::int64_t target_ = 0;
  FaultForm form_ = FaultForm::transient;
  std::string text_ = "sweep";
};

class BodySweep {
 public:
  BodySweep(Machine& machine, FaultForm form, const std::function<BodyResult()>& body)
      : machine_(machine), form_(form), body_(body) {
    machine_.faults().add(countdown_);
  }
  ~BodySweep() { machine_.faults().remove(countdown_); }
  BodySweep(const BodySweep&) = delete;
  BodySweep& operator=(const BodySweep&) = delete;

  BodySweepResult run() {
    run_fault_free();
    for (std::int64_t call = 1; call <= result_.calls; ++call) {
      countdown_.arm(call, form_);
      count(call, judged(ending()));
    }
    return result_;
  }

 private:
  enum class End : std::uint8_t { result, out_of_memory, other_error, no_progress };
  struct Ending {
    End end = End::result;
    BodyResult result = 0;
  };

  void run_fault_free() {
    countdown_.arm(0, form_);
    const Ending first = ending();
    if (first.end != End::result) {
      throw std::invalid_argument("[sweep] the body fails without any fault: " + message_);
    }
    allocated_ = allocated();
    result_.calls = countdown_.calls();
    fault_free_ = first.result;
  }

  Ending ending() {
    try {
      return {End::result, body_()};
    } catch (const OutOfMemory& error) {
      if (error.report().injected) return {End::out_of_memory, 0};
      message_ = error.what();
    } catch (const Countdown::NoProgress&) {
      return {End::no_progress, 0};
    } catch (const std::exception& error) {
      message_ = error.what();
    }
    return {End::other_error, 0};
  }

  std::vector<std::int64_t> allocated() const {
    std::vector<std::int64_t> bytes;
    for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
      bytes.push_back(machine_.allocated_bytes(gpu));
    }
    return bytes;
  }

  FaultVerdict judged(const Ending& ending) {
    what_.clear();
    const std::int64_t calls = countdown_.calls();
    if (countdown_.faults() == 0) return FaultVerdict::not_reached;
    for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
      try {
        machine_.caching_allocator(gpu).check_invariants();
      } catch (const std::logic_error& broken) {
        what_ = broken.what();
        return FaultVerdict::corrupt;
      }
    }
    if (is_leaking()) return FaultVerdict::leak;
    switch (ending.end) {
      case End::out_of_memory:
        return FaultVerdict::clean_error;
      case End::no_progress:
        return FaultVerdict::hang;
      case End::other_error:
        what_ = message_;
        return FaultVerdict::wrong_error;
      case End::result:
        break;
    }
    if (ending.result == fault_free_) return FaultVerdict::recovered_same;
    return calls > result_.calls ? FaultVerdict::recovered_different : FaultVerdict::swallowed;
  }

  bool is_leaking() {
    for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
      const std::int64_t more =
          machine_.allocated_bytes(gpu) - allocated_[static_cast<std::size_t>(gpu)];
      if (more <= 0) continue;
      what_ = fmt::format("{} bytes stay allocated on {}", more, Device::cuda(gpu).str());
      allocated_ = allocated();  // each leak is blamed on one fault
      return true;
    }
    return false;
  }

  void count(std::int64_t call, FaultVerdict verdict) {
    ++result_.faults;
    ++result_.verdicts[static_cast<std::size_t>(verdict)];
    if (is_good(verdict) || result_.first_bad_call != 0) return;
    result_.first_bad_call = call;
    result_.first_bad = verdict;
    result_.what = what_;
  }

  Machine& machine_;
  FaultForm form_;
  const std::function<BodyResult()>& body_;
  Countdown countdown_;
  BodySweepResult result_;
  BodyResult fault_free_ = 0;
  std::vector<std::int64_t> allocated_;
  std::string message_;
  std::string what_;
};

}  // namespace

BodySweepResult sweep_body(Machine& machine, FaultForm form,
                           const std::function<BodyResult()>& body) {
  return BodySweep(machine, form, body).run();
}

}  // namespace ohm::engine
