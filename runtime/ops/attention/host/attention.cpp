#include "runtime/ops/attention/host/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/base/philox.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/launch/host_values.h"

namespace ohm::ops {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct Sizes {
  std::int64_t heads;  ///< of all batches
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t width;
  std::int64_t value_width;

  explicit Sizes(const AttentionInputs& inputs)
      : heads(inputs.query.size(0) * inputs.query.size(1)),
        queries(inputs.query.size(2)),
        keys(inputs.key.size(2)),
        width(inputs.query.size(3)),
        value_width(inputs.value.size(3)) {}
};

// Writes row-major values into a tensor of any strides.
void scatter_values(const Tensor& target, const std::vector<float>& values) {
  if (!target.defined()) return;
  visit_floating(target.dtype(), [&]<class T>(TypeTag<T>) {
    const float* value = values.data();
    for_each_offset(target.shape(), target.strides(), [&](std::int64_t offset) {
      target.data<T>()[offset] = convert_element<T>(*value++);
    });
  });
}

std::vector<float> zeros_for(const Tensor& tensor) {
  return std::vector<float>(tensor.defined() ? static_cast<std::size_t>(tensor.numel()) : 0);
}

float dot_product(const float* a, const float* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i] * b[i]);
  return static_cast<float>(sum);
}

void add_scaled(float* target, const float* source, float factor, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) target[i] += factor * source[i];
}

// The inputs as row-major arrays, and the probabilities of one query after the other. A query is
// counted through all heads of all batches.
class AttentionRows {
 public:
  AttentionRows(const AttentionInputs& inputs, const AttentionRules& rules)
      : sizes_(inputs),
        rules_(rules),
        query_(inputs.query),
        key_(inputs.key),
        value_(inputs.value),
        bias_(inputs.bias),
        probabilities_(static_cast<std::size_t>(sizes_.keys)),
        factors_(static_cast<std::size_t>(sizes_.keys), 1.0F) {}

  const Sizes& sizes() const { return sizes_; }
  std::int64_t count() const { return sizes_.heads * sizes_.queries; }
  /// The number of the first key that goes with a query.
  std::int64_t first_key(std::int64_t query) const { return query / sizes_.queries * sizes_.keys; }
  const float* query(std::int64_t number) const { return query_.data() + number * sizes_.width; }
  const float* key(std::int64_t number) const { return key_.data() + number * sizes_.width; }
  const float* value(std::int64_t number) const {
    return value_.data() + number * sizes_.value_width;
  }

  /// Moves to a query; returns the logarithm of its row's sum.
  float enter(std::int64_t query) {
    float largest = kMinusInfinity;
    for (std::int64_t j = 0; j < sizes_.keys; ++j) {
      const float score = score_of(query, j);
      probabilities_[static_cast<std::size_t>(j)] = score;
      largest = std::max(largest, score);
    }
    draw_factors(static_cast<std::uint64_t>(query * sizes_.keys));
    return normalise(largest);
  }
  float probability(std::int64_t j) const { return probabilities_[static_cast<std::size_t>(j)]; }
  /// What dropout multiplies a probability with.
  float factor(std::int64_t j) const { return factors_[static_cast<std::size_t>(j)]; }

 private:
  float score_of(std::int64_t query, std::int64_t j) const {
    if (rules_.is_causal && j > query % sizes_.queries) return kMinusInfinity;
    const float product = dot_product(this->query(query), key(first_key(query) + j), sizes_.width);
    const float score = product * static_cast<float>(rules_.scale);
    return bias_.data() == nullptr ? score : score + bias_.data()[query * sizes_.keys + j];
  }

  // A row without any key that takes part is all zeros.
  float normalise(float largest) {
    double sum = 0;
    for (float& probability : probabilities_) {
      probability = largest == kMinusInfinity ? 0.0F : std::exp(probability - largest);
      sum += static_cast<double>(probability);
    }
    if (sum == 0) return kMinusInfinity;
    for (float& probability : probabilities_) probability *= static_cast<float>(1.0 / sum);
    return largest + static_cast<float>(std::log(sum));
  }

  void draw_factors(std::uint64_t first_element) {
    if (rules_.dropout_p == 0.0) return;
    const auto keep = static_cast<float>(1.0 - rules_.dropout_p);
    for (std::size_t j = 0; j < factors_.size(); ++j) {
      const std::uint32_t word = philox_word(rules_.seed, rules_.first_draw, first_element + j);
      factors_[j] = uniform_from_word(word) < keep ? 1.0F / keep : 0.0F;
    }
  }

  Sizes sizes_;
  const AttentionRules& rules_;
  HostInput<float> query_;
  HostInput<float> key_;
  HostInput<float> value_;
  HostInput<float> bias_;
  std::vector<float> probabilities_;
  std::vector<float> factors_;
};

// With P the probabilities, F what dropout multiplies them with and D = grad · valueᵀ · F:
// dS = P · (D − Σ D·P), and the gradients of value, query and key are (P·F)ᵀ · grad, dS · key and
// dSᵀ · query, the last two times the scale.
struct HostGradients {
  std::vector<float> query;
  std::vector<float> key;
  std::vector<float> value;
  std::vector<float> bias;  ///< empty where not wanted

  void add_row(const AttentionRows& rows, std::int64_t query_number, const float* grad,
               float scale) {
    const Sizes& sizes = rows.sizes();
    const std::int64_t keys = rows.first_key(query_number);
    std::vector<float> slopes(static_cast<std::size_t>(sizes.keys));
    double total = 0;
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      float& slope = slopes[static_cast<std::size_t>(j)];
      slope = dot_product(grad, rows.value(keys + j), sizes.value_width) * rows.factor(j);
      total += static_cast<double>(slope * rows.probability(j));
      add_scaled(value.data() + (keys + j) * sizes.value_width, grad,
                 rows.probability(j) * rows.factor(j), sizes.value_width);
    }
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      const float slope =
          rows.probability(j) * (slopes[static_cast<std::size_t>(j)] - static_cast<float>(total));
      add_scaled(query.data() + query_number * sizes.width, rows.key(keys + j), slope * scale,
                 sizes.width);
      add_scaled(key.data() + (keys + j) * sizes.width, rows.query(query_number), slope * scale,
                 sizes.width);
      if (!bias.empty()) bias[static_cast<std::size_t>(query_number * sizes.keys + j)] = slope;
    }
  }
};

}  // namespace

void host_attention(const AttentionInputs& inputs, const AttentionRules& rules, const Tensor& out,
                    const Tensor& logsumexp) {
  AttentionRows rows(inputs, rules);
  const Sizes& sizes = rows.sizes();
  std::vector<float> result = zeros_for(out);
  for (std::int64_t query = 0; query < rows.count(); ++query) {
    const float logarithm = rows.enter(query);
    for (std::int64_t j = 0; j < sizes.keys; ++j) {
      add_scaled(result.data() + query * sizes.value_width, rows.value(rows.first_key(query) + j),
                 rows.probability(j) * rows.factor(j), sizes.value_width);
    }
    if (logsumexp.numel() == 0) continue;
    logsumexp.data<float>()[query / sizes.queries * logsumexp.size(2) + query % sizes.queries] =
        logarithm;
  }
  scatter_values(out, result);
}

void host_attention_gradients(const AttentionInputs& inputs, const AttentionRules& rules,
                              const Tensor& grad, const AttentionInputs& gradients) {
  AttentionRows rows(inputs, rules);
  const HostInput<float> grads(grad);
  HostGradients found{zeros_for(inputs.query), zeros_for(inputs.key), zeros_for(inputs.value),
                      zeros_for(gradients.bias)};
  for (std::int64_t query = 0; query < rows.count(); ++query) {
    rows.enter(query);
    found.add_row(rows, query, grads.data() + query * rows.sizes().value_width,
                  static_cast<float>(rules.scale));
  }
  scatter_values(gradients.query, found.query);
  scatter_values(gradients.key, found.key);
  scatter_values(gradients.value, found.value);
  scatter_values(gradients.bias, found.bias);
}

}  // namespace ohm::ops
