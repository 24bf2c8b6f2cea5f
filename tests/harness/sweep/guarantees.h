// Guarantees after an out-of-memory error, whichever request it is that fails, once or for good:
// the strong guarantee is that all is as before; the basic one that every tensor is the old one or
// the new one, and that the program can go on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "harness/sweep/body_sweep.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/engine.h"
#include "runtime/tensor/context.h"
#include "tests/support/op_samples.h"

namespace ohm::engine {

using Tensors = std::vector<Tensor>;

constexpr TensorOptions kOnGpu{DType::float32, Device::cuda(0)};

/// Equal texts are equal values, NaN or not; an undefined tensor has a text of its own.
inline std::string bits_of(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  const std::vector<double> values = to_doubles(tensor);
  return tensor.shape().str() + std::string(reinterpret_cast<const char*>(values.data()),
                                            values.size() * sizeof values[0]);
}

inline std::string bits_of(const Tensors& tensors) {
  std::string bits;
  for (const Tensor& tensor : tensors) bits += bits_of(tensor) + ";";
  return bits;
}

inline Tensors tensors_in(const std::vector<ops::Value>& values) {
  Tensors all;
  for (const ops::Value& value : values) {
    for (const Tensor& tensor : test::tensors_in(value)) {
      if (tensor.defined()) all.push_back(tensor);
    }
  }
  return all;
}

inline Tensors leaves_in(const Tensors& tensors) {
  Tensors leaves;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(leaves),
               [](const Tensor& tensor) { return tensor.requires_grad(); });
  return leaves;
}

inline std::string generators() {
  Context& context = Context::current();
  std::string text = std::to_string(context.host.generator.offset);
  for (const DeviceSlot& gpu : context.gpus) text += " " + std::to_string(gpu.generator.offset);
  return text;
}

inline void run_backward(const Tensors& results) {
  Tensors roots;
  Tensors grads;
  for (const Tensor& result : results) {
    if (!result.requires_grad()) continue;
    roots.push_back(result);
    grads.push_back(ones_like(result));
  }
  if (!roots.empty()) backward(roots, grads, GraphRetention::release);
}

class Guarantees : public testing::Test {
 protected:
  using Step = std::function<void()>;

  Guarantees() : machine_(three_gpus()), guard_(machine_.context()) { machine_.add_gpus(); }

  static MachineOptions three_gpus() {
    MachineOptions options;
    options.gpu.profile = "tiny-64m";
    options.gpu.count = 3;
    options.gpu.values = true;
    return options;
  }

  /// Fails every request for GPU memory that `body` makes, one after the other. It has to end with
  /// the error each time and leave nothing allocated; `check` looks at the rest.
  void fail_each(const Step& body, const Step& check) {
    for (const FaultForm form : {FaultForm::transient, FaultForm::persistent}) {
      const BodySweepResult result = sweep_body(machine_, form, [&] {
        Context::current().seed(7);
        try {
          body();
        } catch (const OutOfMemory&) {
          check();
          throw;
        }
        return BodyResult{0};
      });
      EXPECT_EQ(result.verdicts[static_cast<std::size_t>(FaultVerdict::clean_error)], result.faults)
          << name_of(result.first_bad) << " at request " << result.first_bad_call << " of "
          << result.calls << ", " << name_of(form) << ": " << result.what;
    }
  }

  /// `tensors` and the modes are as they were, the generators too unless the code draws numbers
  /// before its last request.
  enum class Draws : std::uint8_t { last, early };
  void expect_strong(const Step& body, const std::function<Tensors()>& tensors,
                     Draws draws = Draws::last) {
    std::string before;
    const auto state = [&] {
      return bits_of(tensors()) + modes() + (draws == Draws::last ? generators() : "");
    };
    fail_each([&] { before = state(), body(); }, [&] { EXPECT_TRUE(state() == before); });
  }

  /// Each leaf's gradient is the one before `pass` or the one that it computes; with and without
  /// gradients that are there already.
  void expect_whole_gradients(const Tensors& leaves, const Step& pass) {
    for (const bool accumulates : {false, true}) {
      Tensors given(leaves.size());
      if (accumulates) {
        std::transform(leaves.begin(), leaves.end(), given.begin(),
                       [](const Tensor& leaf) { return ones_like(leaf); });
      }
      expect_whole_gradients(leaves, given, pass);
    }
  }

  std::string modes() const {
    const ExecutionState& state = machine_.context_state();
    std::string text(state.op);
    text += state.grad_enabled ? " grad" : " no grad";
    text += state.inference_mode ? " inference" : "";
    const AutogradState* const autograd = find_autograd_state(state);
    const bool is_cast =
        autograd != nullptr && autograd->autocast && autograd->autocast->is_enabled;
    text += is_cast ? " autocast" : "";
    text += state.backward_pass != 0 || !state.after_backward.empty() ? " in backward" : "";
    return text + " " + std::string(name_of(state.category)) + " " + state.current_gpu.str();
  }

  Machine machine_;
  ContextGuard guard_;

 private:
  void expect_whole_gradients(const Tensors& leaves, const Tensors& given, const Step& pass) {
    std::vector<std::string> before;
    for (const Tensor& one : given) before.push_back(bits_of(one));
    std::vector<std::string> after;
    std::string modes_before;
    const auto take_gradients = [&] {
      std::vector<std::string> gradients;
      for (const Tensor& leaf : leaves) {
        gradients.push_back(bits_of(leaf.grad()));
        leaf.set_grad(Tensor());
      }
      return gradients;
    };
    const auto body = [&] {
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (given[i].defined()) fill_values(given[i], 1);  // a pass adds to them in place
        leaves[i].set_grad(given[i]);
      }
      modes_before = modes();
      pass();
      after = take_gradients();
    };
    fail_each(body, [&] {
      EXPECT_EQ(modes(), modes_before);
      const std::vector<std::string> gradients = take_gradients();
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        EXPECT_TRUE(gradients[i] == before[i] || gradients[i] == after[i]) << "leaf " << i;
      }
    });
  }
};

}  // namespace ohm::engine
