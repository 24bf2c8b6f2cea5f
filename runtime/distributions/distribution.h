// Distributions: torch.distributions, statement by statement, so that what a call allocates, keeps
// for backward and lets go is PyTorch's.
//
// A batch of distributions has the shape `batch_shape`, and one sample of one of them
// `event_shape`; samples are [*sample_shape, *batch_shape, *event_shape]. Arguments that validation
// finds wrong, and functions that a distribution does not have, throw std::invalid_argument with
// PyTorch's words.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/distributions/constraint.h"
#include "runtime/ops/value.h"
#include "runtime/tensor/tensor.h"

namespace ohm::distributions {

class Distribution;
using DistributionPtr = std::shared_ptr<Distribution>;

class Distribution {
 public:
  Distribution(const Distribution&) = delete;
  Distribution& operator=(const Distribution&) = delete;
  /// Lets go of its fields in the order in which they came, but for release_first().
  virtual ~Distribution();

  virtual std::string_view type_name() const = 0;
  const Shape& batch_shape() const { return batch_shape_; }
  const Shape& event_shape() const { return event_shape_; }
  bool validates() const { return validates_; }

  /// A parameter: "loc", "probs", … One that follows from another is computed at its first use, in
  /// the graph even where none is recorded, and kept. Undefined where there is none of this name.
  virtual Tensor parameter(std::string_view name);
  /// The names that parameter() knows.
  virtual std::vector<std::string_view> parameter_names() const = 0;

  /// In Python fields go in the order in which the class has first seen their names, be it in
  /// another object: the one that goes before the others, where that is not the oldest.
  void release_first(std::string_view name) { released_first_ = name; }
  std::string_view released_first() const { return released_first_; }

  virtual Tensor mean() = 0;
  virtual Tensor mode() = 0;
  virtual Tensor variance() = 0;
  virtual Tensor stddev();

  virtual bool has_rsample() const { return false; }
  /// Without a graph.
  virtual Tensor sample(const Shape& sample_shape);
  /// In the graph of the parameters.
  virtual Tensor rsample(const Shape& sample_shape);
  virtual Tensor log_prob(const Tensor& value) = 0;
  virtual Tensor entropy() = 0;
  Tensor perplexity();
  virtual Tensor cdf(const Tensor& value);
  virtual Tensor icdf(const Tensor& value);
  /// All samples there are, [count, *batch_shape]; without `expand` the batch dimensions are 1.
  virtual Tensor enumerate_support(bool expand);
  /// The same with the batch dimensions broadcast to `batch_shape`: views.
  virtual DistributionPtr expand(const Shape& batch_shape) const = 0;
  virtual Constraint support() const = 0;

  /// As PyTorch prints it: "Normal(loc: torch.Size([3]), scale: torch.Size([3]))".
  virtual std::string str() const;

 protected:
  struct Field {
    std::string_view name;
    Tensor tensor;
  };
  struct ParameterConstraint {
    std::string_view name;
    Constraint constraint;
  };

  explicit Distribution(bool validates) : validates_(validates) {}

  const Tensor* find_field(std::string_view name) const;
  void add_field(std::string_view name, Tensor tensor);
  void set_shapes(const Shape& batch_shape, const Shape& event_shape);
  /// Checks the fields, in this order.
  void validate(const std::vector<ParameterConstraint>& constraints) const;
  /// The same of what value_of(name) gives; of what is undefined nothing.
  void validate_values(const std::vector<ParameterConstraint>& constraints,
                       const std::function<Tensor(std::string_view name)>& value_of) const;
  /// Throws unless validation is off or `value` may be a sample.
  void validate_sample(const Tensor& value) const;
  Shape extended_shape(const Shape& sample_shape) const;
  [[noreturn]] void refuse(std::string_view function) const;

 private:
  std::vector<Field> fields_;
  std::string_view released_first_;
  Shape batch_shape_;
  Shape event_shape_;
  bool validates_;
};

/// a, then b.
Shape joined(const Shape& a, const Shape& b);
/// The batch dimensions of values without an event dimension: [count, 1, …], expanded or not.
Tensor spread_over_batch(const Tensor& values, const Shape& batch_shape, bool expand);
/// Views of the shape that all of them broadcast to, what has it as it is; numbers become tensors
/// of the first tensor's dtype and device.
std::vector<Tensor> broadcast_all(const std::vector<ops::TensorOrNumber>& values);
/// Sums over the last `dims` dimensions.
Tensor sum_rightmost(const Tensor& value, int dims);

}  // namespace ohm::distributions
