// Optimizers: what is common to all, and how a training step looks:
//
//   optimizer.zero_grad();                       // frees the gradients
//   Tensor loss = cross_entropy(net->forward(x), y);
//   backward(loss);
//   optimizer.step();                            // state is allocated at the first step
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/ops/value.h"
#include "runtime/tensor/optimizer_observer.h"
#include "runtime/tensor/tensor.h"

namespace ohm::optim {

/// How the update is computed. All forms give the same numbers; they differ in temporaries.
enum class Form : std::uint8_t {
  foreach_list,  ///< over all parameters at once: temporaries of all of them live together
  for_loop,      ///< one parameter after the other: temporaries of one at a time
  fused,         ///< one kernel: no temporaries
};

/// Computes the loss and its gradients, and returns the loss.
using Closure = std::function<Tensor()>;

/// What an optimizer keeps for one parameter.
struct ParameterState {
  Tensor parameter;
  std::int64_t steps = 0;       ///< updates so far
  std::vector<Tensor> tensors;  ///< in the order of state_names(); undefined: not there yet
  std::vector<std::vector<Tensor>> lists = {};      ///< in the order of list_names()
  std::vector<std::optional<double>> numbers = {};  ///< in the order of number_names()

  /// No entry is there.
  bool is_empty() const;
};

struct OptimizerDef;

/// How an optimizer was made, but for its parameters: what a further group has by itself.
struct OptimizerOrigin {
  const OptimizerDef* kind = nullptr;  ///< null: by no row of the registry
  std::vector<ops::Value> options;  ///< in the order of its parameters; that of the first is empty
};

/// Drops the gradients, or fills them with zeros.
void zero_grad(const std::vector<Tensor>& parameters, bool set_to_none);

class Optimizer {
 public:
  /// `lr`: learning rate. Throws std::invalid_argument for an empty list, for tensors that are no
  /// leaves, and for a learning rate that is negative or no number.
  Optimizer(std::vector<Tensor> parameters, double lr, Form form);
  /// Lets the state go, group by group and parameter by parameter in the order in which it was
  /// made, then the parameters from the last to the first, as Python's lists go.
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  virtual std::string_view type_name() const = 0;
  /// What the tensors of a ParameterState are, in PyTorch's words, in the order of their making.
  virtual std::vector<std::string_view> state_names() const = 0;

  /// What else some have: lists of tensors, and numbers. A number may be a tensor at times, of the
  /// same name.
  virtual std::vector<std::string_view> list_names() const { return {}; }
  virtual std::vector<std::string_view> number_names() const { return {}; }

  /// One update of every parameter that has a gradient. An OutOfMemory on the way leaves every
  /// tensor usable; which parameters and states are updated already is not said, as in PyTorch: a
  /// program that goes on loads what it had before. In the making of a parameter's state it leaves
  /// the entries that were made: no later step makes the others, and one that reads them throws
  /// std::invalid_argument with the name of the first that is missing, where PyTorch's KeyError has
  /// it. Nothing is updated then.
  virtual void step();
  /// The same after the closure has run with grad mode on, or runs it as often as it needs. The
  /// first loss.
  virtual Tensor step(const Closure& closure);

  /// Drops all gradients, or fills them with zeros.
  void zero_grad(bool set_to_none);

  /// Lets the state of all parameters go, in the order in which it was made; the next step makes
  /// it. (PyTorch's Adagrad, whose constructor makes its state, would miss it.)
  virtual void clear_state();

  /// The same state, its tensors converted where they are of another dtype or device than its
  /// parameter; a step count on the host stays there where steps are counted on the host.
  /// Pre-condition: an entry for each of state_names(), list_names() and number_names().
  ParameterState converted_state(ParameterState state) const;
  /// Lets go of all state, then has this.
  void load_state(std::vector<ParameterState> states);

  /// Adds a parameter group: an optimizer of the same type, whose parameters, options and learning
  /// rate are the group's. This one is the first group; step(), zero_grad(), clear_state(),
  /// parameters() and find_state() are of all. Throws std::invalid_argument for a parameter that
  /// is in a group already.
  virtual void add_group(std::shared_ptr<Optimizer> group);
  /// Those behind the first.
  const std::vector<std::shared_ptr<Optimizer>>& further_groups() const { return further_groups_; }
  const std::vector<Tensor>& group_parameters() const { return parameters_; }
  const OptimizerOrigin& origin() const { return origin_; }
  void set_origin(OptimizerOrigin origin) { origin_ = std::move(origin); }

  double learning_rate() const { return lr_; }
  void set_learning_rate(double lr) { lr_ = lr; }
  /// The learning rate that schedulers start from; none while no scheduler was made.
  std::optional<double> initial_learning_rate() const { return initial_lr_; }
  void set_initial_learning_rate(double lr) { initial_lr_ = lr; }
  /// The share of the old direction in the new one: SGD's momentum, Adam's first beta. None where
  /// there is no such thing, or it is switched off.
  virtual std::optional<double> momentum() const { return std::nullopt; }
  /// Pre-condition: there is one.
  virtual void set_momentum(double /*momentum*/) {}
  /// Group by group.
  std::vector<Tensor> parameters() const;
  bool is_fused() const { return form_ == Form::fused; }
  /// nullptr while there is none.
  const ParameterState* find_state(const Tensor& parameter) const;

 protected:
  using States = std::vector<ParameterState*>;

  /// Allocates the tensors of a parameter's state, before its first update. Each is an entry from
  /// the moment it is there: a failure leaves those before it.
  virtual void make_state(ParameterState& state) = 0;
  /// Whether the count of steps is a tensor on the parameter's device.
  virtual bool counts_on_device() const { return is_fused(); }
  /// The entries that an update reads, in the order in which PyTorch looks them up before it: all
  /// that make_state() makes.
  virtual std::vector<std::string_view> entries_read() const { return state_names(); }
  /// The update in one of its forms; all parameters have a gradient, grad mode is off. Those of a
  /// list are of one device and dtype.
  virtual void update_list(const States& states) = 0;
  /// After the last list of a step: what update_list() kept while the next one ran goes.
  virtual void lists_are_done() {}
  virtual void update_each(const States& states) = 0;
  /// Only for optimizers whose constructor allows the form.
  virtual void update_fused(const States& states);

  Form form() const { return form_; }
  /// The state of a parameter, made where it has no entry. Throws std::invalid_argument for one
  /// that is incomplete.
  ParameterState& state_of(const Tensor& parameter);
  /// The same, empty where it was not there.
  ParameterState& entry_of(const Tensor& parameter);
  /// Throws std::invalid_argument with PyTorch's `error` and what to do.
  [[noreturn]] void refuse_incomplete(const ParameterState& state, std::string_view error) const;
  /// Runs what a step writes, with the context's observer looking on.
  void run_observed(const std::function<void()>& update);
  /// Those that a step writes to: of all groups those that have a gradient.
  virtual std::vector<Tensor> updated_parameters() const;

 private:
  void require_entries(const ParameterState& state) const;
  /// Of the group's parameters that have a gradient; made where there is none.
  States states_of_step();
  /// Each parameter that a step writes to, then its state as it is when visited.
  StepTensors step_tensors() const;
  class ListsOfAStep;
  void hold_gradients(std::size_t count) const;
  void update_all(States states);
  void update_by_form(States left);
  /// `first`: the first group's. Those of the others are made when it is their turn.
  void update_groups(States first);

  std::vector<Tensor> parameters_;
  double lr_;
  std::optional<double> initial_lr_;
  Form form_;
  std::vector<std::unique_ptr<ParameterState>> states_;  ///< in the order of their making
  std::unordered_map<const TensorImpl*, ParameterState*> state_by_parameter_;
  std::vector<std::shared_ptr<Optimizer>> further_groups_;
  std::unordered_map<const TensorImpl*, Optimizer*> group_of_;  ///< by parameter, of all groups
  OptimizerOrigin origin_;
};

using OptimizerPtr = std::shared_ptr<Optimizer>;

/// The form that PyTorch takes by itself: foreach where all parameters are on GPUs.
Form default_form(const std::vector<Tensor>& parameters);

/// Throws std::invalid_argument unless `value` is in [0, 1).
void require_beta(double value, std::string_view optimizer);

}  // namespace ohm::optim
