#include "runtime/autograd/recomputation.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "runtime/autograd/forward_environment.h"
#include "runtime/autograd/saved_tensor.h"
#include "runtime/autograd/saving_node.h"
#include "runtime/autograd/variable.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

class Placeholder;

// Saves the inputs as any node does: under the hook of an outer checkpoint they are left out too.
class InputSaver final : public SavingNode {
 public:
  explicit InputSaver(const std::vector<Tensor>& inputs)
      : SavingNode("CheckpointInputs", next_sequence_number()) {
    SavedList saved;
    for (const Tensor& input : inputs) saved.emplace_back(input, SavedTensor::Kind::input);
    set_saved(std::move(saved));
  }

  std::vector<Tensor> inputs() const {
    std::vector<Tensor> tensors;
    for (const SavedTensor& input : saved()) tensors.push_back(input.unpack(*this));
    return tensors;
  }

  TensorList apply(TensorList& /*grads*/) override {
    OHM_ASSERT(false, "nothing leads to the node that saves the inputs of a checkpoint");
    return {};
  }

 private:
  ~InputSaver() override = default;
};

bool is_alike(const TensorMeta& a, const TensorMeta& b) {
  return a.shape == b.shape && a.dtype == b.dtype && a.device == b.device;
}

std::string text_of(const TensorMeta& meta) {
  return fmt::format("{} {} on {}", name_of(meta.dtype), meta.shape.str(), meta.device.str());
}

TensorMeta meta_of(const Tensor& tensor) {
  return {tensor.shape(), tensor.dtype(), tensor.device()};
}

// Note [One checkpoint]
// Placeholders hold their checkpoint, which holds the function and its inputs: they all go with the
// last placeholder, that is when the last node of the function has released what it saved. What a
// second run gives belongs to the placeholders, each of which hands it out once in every pass.
class RecomputedCheckpoint final : public SavedTensorHook,
                                   public std::enable_shared_from_this<RecomputedCheckpoint> {
 public:
  RecomputedCheckpoint(CheckpointedFunction function, const std::vector<Tensor>& inputs,
                       const CheckpointOptions& options)
      : function_(std::move(function)),
        environment_(inputs, options.preserves_random_state),
        checks_determinism_(options.checks_determinism),
        stops_early_(Context::current().state.stops_recomputation_early),
        inputs_(new InputSaver(inputs)) {}

  IntrusivePtr<PackedTensor> pack(const Tensor& tensor) override;

  /// Runs the function again unless that has been done for this backward pass.
  void ensure_recomputed(std::uint64_t pass);

  /// In the second run: the next tensor that is saved. Throws StopRecomputation behind the last.
  void take(const Tensor& tensor, std::uint64_t pass, std::size_t number);

  void forget(std::size_t number) { placeholders_[number] = nullptr; }

 private:
  void check_count(std::size_t recomputed) const;

  CheckpointedFunction function_;
  ForwardEnvironment environment_;
  bool checks_determinism_;
  bool stops_early_;
  IntrusivePtr<InputSaver> inputs_;
  std::vector<Placeholder*> placeholders_;  ///< not owned; null once its node has released it
  std::vector<TensorMeta> metas_;           ///< of what was saved in the forward pass
  std::vector<std::uint64_t> recomputed_passes_;
};

class Placeholder final : public PackedTensor {
 public:
  Placeholder(std::shared_ptr<RecomputedCheckpoint> checkpoint, std::size_t number)
      : checkpoint_(std::move(checkpoint)), number_(number) {}

  Tensor unpack() override;

  void fill(const Tensor& tensor, std::uint64_t pass) { filled_.push_back({pass, tensor}); }

 private:
  ~Placeholder() override { checkpoint_->forget(number_); }

  struct Filled {
    std::uint64_t pass;
    Tensor tensor;  ///< undefined once it was handed out
  };
  std::vector<Filled> filled_;
  std::shared_ptr<RecomputedCheckpoint> checkpoint_;  ///< goes before the tensors
  std::size_t number_;
};

Tensor Placeholder::unpack() {
  Context& context = Context::current();
  // Outside of a backward pass every look is a pass of its own.
  const std::uint64_t pass = context.state.backward_pass != 0 ? context.state.backward_pass
                                                              : context.state.next_backward_pass++;
  checkpoint_->ensure_recomputed(pass);
  const auto filled =
      std::find_if(filled_.begin(), filled_.end(), [&](const Filled& f) { return f.pass == pass; });
  OHM_ASSERT(filled != filled_.end(), "a second run gives every tensor that is still wanted");
  OHM_ASSERT(filled->tensor.defined(), "a node reads what it saved once in a pass");
  return std::exchange(filled->tensor, Tensor());
}

// What the nodes of the second run keep: the same tensors, apart from any graph. That graph is
// never walked; it goes with the function's variables.
class Kept final : public PackedTensor {
 public:
  explicit Kept(Tensor tensor) : tensor_(std::move(tensor)) {}
  Tensor unpack() override { return tensor_; }

 private:
  ~Kept() override = default;

  Tensor tensor_;
};

class SecondRun final : public SavedTensorHook {
 public:
  SecondRun(RecomputedCheckpoint& checkpoint, std::uint64_t pass)
      : checkpoint_(checkpoint), pass_(pass) {}

  IntrusivePtr<PackedTensor> pack(const Tensor& tensor) override {
    const Tensor kept = tensor.requires_grad() ? detach(tensor) : tensor;
    checkpoint_.take(kept, pass_, count_++);
    return IntrusivePtr<PackedTensor>(new Kept(kept));
  }

  std::size_t count() const { return count_; }

 private:
  RecomputedCheckpoint& checkpoint_;
  std::uint64_t pass_;
  std::size_t count_ = 0;
};

IntrusivePtr<PackedTensor> RecomputedCheckpoint::pack(const Tensor& tensor) {
  metas_.push_back(meta_of(tensor));
  auto* placeholder = new Placeholder(shared_from_this(), placeholders_.size());
  placeholders_.push_back(placeholder);
  return IntrusivePtr<PackedTensor>(placeholder);
}

void RecomputedCheckpoint::ensure_recomputed(std::uint64_t pass) {
  const auto& done = recomputed_passes_;
  if (std::find(done.begin(), done.end(), pass) != done.end()) return;
  SecondRun second_run(*this, pass);
  {
    // The inputs live as long as the function runs.
    const std::vector<Tensor> inputs = inputs_->inputs();
    const SavedTensorHookGuard hook(second_run);
    const ForwardEnvironment::Scope environment(environment_);
    try {
      function_(inputs);
    } catch (const StopRecomputation&) {
      // Everything that backward needs is there.
    }
  }
  recomputed_passes_.push_back(pass);
  check_count(second_run.count());
}

void RecomputedCheckpoint::take(const Tensor& tensor, std::uint64_t pass, std::size_t number) {
  if (number >= placeholders_.size()) check_count(number + 1);
  if (checks_determinism_ && !is_alike(meta_of(tensor), metas_[number])) {
    throw std::invalid_argument(
        fmt::format("[checkpoint] the function saved other tensors when it ran again: tensor {} "
                    "was {}, now it is {}",
                    number, text_of(metas_[number]), text_of(meta_of(tensor))));
  }
  if (placeholders_[number] != nullptr) placeholders_[number]->fill(tensor, pass);
  if (stops_early_ && number + 1 == placeholders_.size()) throw StopRecomputation();
}

void RecomputedCheckpoint::check_count(std::size_t recomputed) const {
  if (recomputed == placeholders_.size()) return;
  throw std::invalid_argument(fmt::format(
      "[checkpoint] the function saved {} tensors, but when it ran again {}{}: it must "
      "do the same both times",
      placeholders_.size(), recomputed, recomputed > placeholders_.size() ? " or more" : ""));
}

}  // namespace

std::vector<Tensor> checkpoint_by_recomputation(const CheckpointedFunction& function,
                                                const std::vector<Tensor>& inputs,
                                                const CheckpointOptions& options) {
  const auto checkpoint = std::make_shared<RecomputedCheckpoint>(function, inputs, options);
  const SavedTensorHookGuard hook(*checkpoint);
  return function(inputs);
}

}  // namespace ohm
