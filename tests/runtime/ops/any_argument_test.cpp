// Every op of the registry under arguments that make no sense, one after the other and several at
// once: it computes, or says in brackets who refuses and why; nothing else happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "runtime/tensor/context.h"
#include "tests/support/bad_arguments.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

constexpr std::size_t kCapacity = std::size_t{64} << 20U;
constexpr int kCombinations = 60;

bool names_an_op(const std::string& message) {
  const std::size_t end = message.find("] ");
  return message.front() == '[' && end != std::string::npos && end + 2 < message.size();
}

// What a program may see: a refusal that says who refuses, or a full device.
template <class F>
void expect_refusal_at_most(const std::string& what, F&& run) {
  try {
    run();
  } catch (const std::invalid_argument& error) {
    EXPECT_TRUE(names_an_op(error.what())) << what << ": " << error.what();
  } catch (const OutOfMemory&) {
    return;
  } catch (const std::runtime_error& error) {
    // PyTorch's words, which name no op.
    EXPECT_THAT(error.what(), testing::StartsWith("The total norm of order ")) << what;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

void run_backward(const std::vector<Tensor>& results) {
  std::vector<Tensor> roots;
  std::vector<Tensor> grads;
  for (const Tensor& result : results) {
    if (!result.requires_grad()) continue;
    roots.push_back(result);
    grads.push_back(ones(result.shape(), options_of(result)));
  }
  if (!roots.empty()) backward(roots, grads, GraphRetention::release);
}

void try_call(const ops::OpDef& op, const Sample& arguments, const std::string& what) {
  expect_refusal_at_most(what, [&] { call_op(op, arguments); });
  Sample leaves = arguments;
  for (const std::size_t position : differentiable(op, arguments)) {
    if (const Tensor* tensor = std::get_if<Tensor>(&arguments[position])) {
      leaves[position] = detached_alias(*tensor);
      std::get<Tensor>(leaves[position]).set_requires_grad(true);
    }
  }
  std::vector<Tensor> results;
  expect_refusal_at_most(what, [&] { results = tensors_in(call_op(op, leaves)); });
  expect_refusal_at_most(what + ", backward", [&] {
    const OpGuard running(op.info.name);
    run_backward(results);
  });
}

// A generator of its own: the ops under test draw from the machine's.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : generator_{seed, 0} {}
  std::size_t below(std::size_t count) {
    return philox_word(generator_.seed, generator_.take(4), 0) % count;
  }

 private:
  PhiloxGenerator generator_;
};

using Alternatives = std::vector<std::vector<BadArgument>>;

Alternatives alternatives_for(const ops::OpDef& op, const Sample& good) {
  Alternatives all;
  for (std::size_t i = 0; i < good.size(); ++i) {
    all.push_back(bad_arguments(op.params[i], good[i]));
  }
  return all;
}

class AnyArgument : public testing::TestWithParam<std::string> {
 protected:
  const ops::OpDef& op_ = *ops::find_op(GetParam());

  void try_one_at_a_time() {
    const std::size_t count = op_.params.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Sample good = good_arguments(op_);
      for (const BadArgument& bad : bad_arguments(op_.params[i], good[i])) {
        Sample arguments = good_arguments(op_);  // in-place ops write to them
        arguments[i] = bad.value;
        try_call(op_, arguments, std::string(op_.params[i].name) + " " + bad.what);
      }
    }
  }

  void try_several_at_once() {
    Choices choices(7);
    for (int turn = 0; turn < kCombinations; ++turn) {
      Sample arguments = good_arguments(op_);
      const Alternatives alternatives = alternatives_for(op_, arguments);
      std::string what;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (alternatives[i].empty() || choices.below(3) == 0) continue;
        const BadArgument& bad = alternatives[i][choices.below(alternatives[i].size())];
        arguments[i] = bad.value;
        what += std::string(op_.params[i].name) + " " + bad.what + "; ";
      }
      try_call(op_, arguments, what);
    }
  }
};

TEST_P(AnyArgument, IsComputedOrRefusedWithoutValues) {
  TestMachine machine({.gpus = 2, .capacity_bytes = kCapacity, .host_capacity_bytes = kCapacity});
  try_one_at_a_time();
  try_several_at_once();
}

TEST_P(AnyArgument, IsComputedOrRefusedWithValues) {
  TestMachine machine({.gpus = 2,
                       .capacity_bytes = kCapacity,
                       .host_capacity_bytes = kCapacity,
                       .values = ValueMode::keeps_values});
  try_one_at_a_time();
  try_several_at_once();
}

std::vector<std::string> all_op_names() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) names.emplace_back(op.info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(AllOps, AnyArgument, testing::ValuesIn(all_op_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test
