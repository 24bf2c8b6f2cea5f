#include "runtime/parallel/replicate.h"

#include <unordered_map>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorder.h"
#include "runtime/nn/module_walk.h"
#include "runtime/ops/collective/cuda/collective.h"
#include "runtime/parallel/coalesced.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

using TensorTable = std::vector<std::vector<Tensor>>;  // [device][tensor]

std::vector<Tensor> pick(const std::vector<Tensor>& tensors,
                         const std::vector<std::size_t>& indices) {
  std::vector<Tensor> picked;
  picked.reserve(indices.size());
  for (const std::size_t index : indices) picked.push_back(tensors[index]);
  return picked;
}

// Copies on every device but the first, which gets aliases.
TensorTable broadcast_coalesced(const std::vector<Tensor>& tensors,
                                const std::vector<Device>& devices) {
  TensorTable copies(devices.size(), std::vector<Tensor>(tensors.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i) copies[0][i] = detached_alias(tensors[i]);
  for (const auto& chunk : chunks_of(tensors, kCoalescedBytes, ChunkRule::may_exceed)) {
    const std::vector<Tensor> sources = pick(tensors, chunk);
    const Tensor flat = flatten(sources);
    for (std::size_t device = 1; device < devices.size(); ++device) {
      const std::vector<Tensor> pieces = unflatten(transfer(flat, devices[device]), sources);
      for (std::size_t i = 0; i < chunk.size(); ++i) copies[device][chunk[i]] = pieces[i];
    }
  }
  return copies;
}

std::vector<Tensor> flat_on_each_device(const TensorTable& grads,
                                        const std::vector<std::size_t>& chunk) {
  std::vector<Tensor> flats;
  for (const std::vector<Tensor>& of_device : grads)
    flats.push_back(flatten(pick(of_device, chunk)));
  return flats;
}

void add_up(const std::vector<Tensor>& flats, const Tensor& result) {
  if (ops::reduce_by_nccl(flats, result, 0) == ops::CudaResult::done) return;
  copy_into(result, flats[0]);
  for (std::size_t device = 1; device < flats.size(); ++device) {
    accumulate_into(result, flats[device]);
  }
}

// The sum over devices, tensor by tensor, in flat results on the first device. The flat operands of
// one chunk live until those of the next one are there, as a variable of a Python loop does.
TensorList reduce_add_coalesced(const TensorTable& grads) {
  const CollectiveGuard collective("reduce_add");
  TensorList sums(grads[0].size());
  std::vector<Tensor> flats;
  for (const auto& chunk : chunks_of(grads[0], kCoalescedBytes, ChunkRule::stays_below)) {
    flats = flat_on_each_device(grads, chunk);
    const Tensor result = empty_like(flats[0]);
    add_up(flats, result);
    const std::vector<Tensor> pieces = unflatten(result, pick(grads[0], chunk));
    for (std::size_t i = 0; i < chunk.size(); ++i) sums[chunk[i]] = pieces[i];
  }
  return sums;
}

// Gradients that never came are zeros: the reduction takes a full table.
TensorTable gradient_table(BackwardCall& call, std::size_t tensors) {
  TensorTable table(call.grad_count() / tensors);
  for (std::size_t i = 0; i < call.grad_count(); ++i) {
    Tensor grad = call.grad(i);
    if (!grad.defined()) {
      const TensorMeta& meta = call.output(i);
      grad = empty(meta.shape, {meta.dtype, meta.device});
      fill_values(grad, 0.0);
    }
    table[i / tensors].push_back(std::move(grad));
  }
  return table;
}

TensorTable broadcast_in_graph(const std::vector<Tensor>& tensors,
                               const std::vector<Device>& devices) {
  const CollectiveGuard collective("broadcast");
  const CategoryGuard category(Category::parameter);
  TensorTable copies = broadcast_coalesced(tensors, devices);
  Recorder record("BroadcastBackward", tensors);
  if (record.is_needed()) {
    std::vector<Tensor> outputs;
    for (const std::vector<Tensor>& of_device : copies) {
      outputs.insert(outputs.end(), of_device.begin(), of_device.end());
    }
    record.attach_python(outputs, [count = tensors.size()](BackwardCall& call) {
      return reduce_add_coalesced(gradient_table(call, count));
    });
  }
  return copies;
}

// Replaces the tensors of a copied module tree by those of one device.
class TensorReplacement {
 public:
  void add(const std::vector<Tensor>& originals, const std::vector<Tensor>& copies) {
    for (std::size_t i = 0; i < originals.size(); ++i)
      by_original_[originals[i].impl()] = copies[i];
  }

  nn::ModulePtr apply(const nn::Module& original) const {
    std::unordered_map<const nn::Module*, nn::ModulePtr> copies;
    nn::walk_modules(
        original,
        [&](const nn::Module& module, const std::string& /*prefix*/) {
          copies[&module] = copied(module);
        },
        [&](const nn::Module& module) {
          nn::Module& copy = *copies.at(&module);
          for (std::size_t i = 0; i < module.children().size(); ++i) {
            copy.set_child(i, copies.at(module.children()[i].module.get()));
          }
        });
    return copies.at(&original);
  }

 private:
  /// With the original's children.
  nn::ModulePtr copied(const nn::Module& module) const {
    nn::ModulePtr copy = module.shallow_copy();
    for (std::size_t i = 0; i < module.own_parameters().size(); ++i) {
      copy->set_own_parameter(i, of(module.own_parameters()[i].tensor));
    }
    for (std::size_t i = 0; i < module.own_buffers().size(); ++i) {
      copy->set_own_buffer(i, of(module.own_buffers()[i].tensor));
    }
    return copy;
  }

  Tensor of(const Tensor& original) const {
    return original.defined() ? by_original_.at(original.impl()) : Tensor();
  }

  std::unordered_map<const TensorImpl*, Tensor> by_original_;
};

}  // namespace

std::vector<nn::ModulePtr> replicate(const nn::ModulePtr& module,
                                     const std::vector<Device>& devices) {
  const std::vector<Tensor> parameters = module->parameters();
  std::vector<Tensor> buffers;
  for (const nn::NamedTensor& entry : module->named_buffers()) buffers.push_back(entry.tensor);
  const TensorTable parameter_copies = broadcast_in_graph(parameters, devices);
  TensorTable buffer_copies;
  {
    const CategoryGuard category(Category::parameter);
    buffer_copies = broadcast_coalesced(buffers, devices);
  }
  std::vector<nn::ModulePtr> replicas;
  for (std::size_t device = 0; device < devices.size(); ++device) {
    TensorReplacement replacement;
    replacement.add(parameters, parameter_copies[device]);
    replacement.add(buffers, buffer_copies[device]);
    replicas.push_back(replacement.apply(*module));
  }
  return replicas;
}

}  // namespace ohm::parallel
