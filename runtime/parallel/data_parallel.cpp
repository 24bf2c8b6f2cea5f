#include "runtime/parallel/data_parallel.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/reduction/reduction.h"
#include "runtime/parallel/replicate.h"
#include "runtime/parallel/scatter_gather.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

std::vector<Device> devices_or_all(std::vector<Device> devices) {
  Context& context = Context::current();
  if (devices.empty()) {
    for (std::size_t i = 0; i < context.gpus.size(); ++i) {
      devices.push_back(Device::cuda(static_cast<int>(i)));
    }
  }
  if (devices.empty()) throw std::invalid_argument("[DataParallel] there is no GPU to run on");
  for (const Device device : devices) {
    if (device.is_cpu()) throw std::invalid_argument("[DataParallel] device_ids must be GPUs");
    context.slot(device);
  }
  return devices;
}

Tensor tensor_of(const nn::Value& value) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return *tensor;
  throw std::invalid_argument("[gather] the module's output must be a tensor to be gathered");
}

std::vector<Tensor> tensors_of(const std::vector<nn::Value>& values) {
  std::vector<Tensor> tensors;
  for (const nn::Value& value : values) tensors.push_back(tensor_of(value));
  return tensors;
}

// Element by element, where replicas gave lists.
nn::Value gathered(const std::vector<nn::Value>& outputs, Device device) {
  const auto* first = std::get_if<std::vector<Tensor>>(&outputs[0]);
  if (first == nullptr) return gather(tensors_of(outputs), device);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < first->size(); ++i) {
    std::vector<Tensor> pieces;
    for (const nn::Value& output : outputs) {
      pieces.push_back(std::get<std::vector<Tensor>>(output).at(i));
    }
    results.push_back(gather(pieces, device));
  }
  return results;
}

// A tuple of Python's: it goes from the last to the first.
void let_go(std::vector<nn::Value>& outputs) {
  for (nn::Value& output : outputs) {
    auto* tensors = std::get_if<std::vector<Tensor>>(&output);
    while (tensors != nullptr && !tensors->empty()) tensors->pop_back();
  }
}

}  // namespace

DataParallel::DataParallel(nn::ModulePtr module, std::vector<Device> devices,
                           std::optional<Device> output_device, Outputs outputs)
    : devices_(devices_or_all(std::move(devices))),
      output_device_(output_device.value_or(devices_[0])),
      outputs_(outputs) {
  add_child("module", std::move(module));
}

void DataParallel::require_module_on_first_device() const {
  const auto check = [this](const std::vector<nn::NamedTensor>& tensors) {
    for (const nn::NamedTensor& entry : tensors) {
      if (entry.tensor.device() == devices_[0]) continue;
      throw std::invalid_argument(
          fmt::format("[DataParallel] module must have its parameters and buffers on device {} "
                      "(device_ids[0]) but found one of them on device: {}",
                      devices_[0].str(), entry.tensor.device().str()));
    }
  };
  check(module().named_parameters());
  check(module().named_buffers());
}

nn::Value DataParallel::forward(const std::vector<nn::Value>& inputs) {
  require_module_on_first_device();
  // In the reverse of the order in which Python's frame lets them go.
  std::vector<nn::Value> outputs;
  std::vector<nn::ModulePtr> replicas;
  std::vector<std::vector<nn::Value>> arguments = scatter_arguments(inputs, devices_);
  if (devices_.size() == 1) {
    nn::Value output = module().forward(arguments.at(0));
    if (outputs_ == Outputs::left) return std::vector<Tensor>{tensor_of(output)};
    return output;
  }
  const std::vector<Device> used(devices_.begin(),
                                 devices_.begin() + static_cast<std::ptrdiff_t>(arguments.size()));
  replicas = replicate(children()[0].module, used);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const WorkerThreadScope thread(static_cast<std::uint32_t>(i));
    const GpuGuard gpu(used[i]);
    outputs.push_back(replicas[i]->call(arguments[i]));
  }
  if (outputs_ == Outputs::left) return tensors_of(outputs);
  nn::Value result = gathered(outputs, output_device_);
  arguments.clear();
  replicas.clear();
  let_go(outputs);
  return result;
}

DataParallelCriterion::DataParallelCriterion(nn::ModulePtr criterion, std::vector<Device> devices)
    : devices_(devices_or_all(std::move(devices))) {
  add_child("module", std::move(criterion));
}

nn::Value DataParallelCriterion::forward(const std::vector<nn::Value>& inputs) {
  const auto* outputs = inputs.empty() ? nullptr : std::get_if<std::vector<Tensor>>(&inputs[0]);
  if (outputs == nullptr || inputs.size() != 2) {
    throw std::invalid_argument(
        "[DataParallelCriterion] takes the list of outputs of a DataParallel model that leaves "
        "them on their GPUs, and the targets");
  }
  const auto targets = scatter_arguments({inputs[1]}, devices_);
  std::vector<Tensor> losses;
  for (std::size_t i = 0; i < outputs->size() && i < targets.size(); ++i) {
    const WorkerThreadScope thread(static_cast<std::uint32_t>(i));
    const GpuGuard gpu((*outputs)[i].device());
    const std::vector<nn::Value> arguments{(*outputs)[i], targets[i][0]};
    losses.push_back(tensor_of(children()[0].module->call(arguments)));
  }
  return ops::mean(gather(losses, devices_[0]));
}

}  // namespace ohm::parallel
