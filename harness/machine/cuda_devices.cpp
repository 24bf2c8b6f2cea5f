#include "harness/machine/cuda_devices.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "harness/process/ipc_serialization.h"
#include "harness/process/worker_pool.h"
#include "runtime/kernels/cuda/kernel_module.h"

namespace ohm::cuda {

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, CudaDeviceProperties>
void fields(Archive& archive, T& device) {
  archive(device.name, device.pci_bus_id, device.total_bytes, device.compute_capability,
          device.multiprocessors, device.threads_per_multiprocessor);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, LibraryState>
void fields(Archive& archive, T& library) {
  archive(library.name, library.version, library.missing);
}

}  // namespace ohm::cuda

namespace ohm::engine {

namespace {

/// What the asking process sends: devices, or why there are none.
struct Answer {
  std::string missing;
  FoundCudaDevices found;
};

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, Answer>
void fields(Archive& archive, T& answer) {
  archive(answer.missing, answer.found.driver_version, answer.found.devices,
          answer.found.context_bytes, answer.found.kernels_missing);
}

std::string why_no_kernels(const std::shared_ptr<const cuda::CudaDevice>& device) {
  const kernels::KernelBuild build = kernels::kernel_build();
  if (build.images.empty()) return "this program was built without kernels for CUDA devices";
  try {
    const kernels::KernelModule module(device);
    if (!build.has_machine_code_for(device->properties().compute_capability)) module.load_all();
    return {};
  } catch (const kernels::KernelsUnavailable& missing) {
    return missing.what();
  }
}

FoundCudaDevices ask_driver(const CudaLibraries& libraries) {
  const auto driver = std::make_shared<const cuda::Driver>(libraries.driver);
  FoundCudaDevices found;
  found.driver_version = driver->version();
  for (int ordinal = 0; ordinal < driver->device_count(); ++ordinal) {
    const auto device = std::make_shared<const cuda::CudaDevice>(driver, ordinal);
    const DeviceMemoryInfo info = device->memory_info();
    found.devices.push_back(device->properties());
    found.context_bytes.push_back(info.total_bytes - info.free_bytes);
    if (found.kernels_missing.empty()) found.kernels_missing = why_no_kernels(device);
  }
  return found;
}

template <class Message>
std::string encoded(const Message& message) {
  MessageWriter writer;
  writer(message);
  return writer.take();
}

Answer answer_of(const CudaLibraries& libraries) {
  Answer answer;
  try {
    answer.found = ask_driver(libraries);
  } catch (const std::runtime_error& error) {
    answer.missing = error.what();
  }
  return answer;
}

cuda::LibraryState nccl_state(const std::shared_ptr<const cuda::Driver>& driver,
                              const cuda::LibraryNames& names) {
  try {
    std::vector<std::shared_ptr<const cuda::CudaDevice>> devices;
    for (int ordinal = 0; ordinal < driver->device_count(); ++ordinal) {
      devices.push_back(std::make_shared<const cuda::CudaDevice>(driver, ordinal));
    }
    return {cuda::Nccl::kName, cuda::Nccl(devices, names).version(), ""};
  } catch (const std::runtime_error& error) {
    return {cuda::Nccl::kName, "", error.what()};
  }
}

/// Why none of them can be told from the others.
std::vector<cuda::LibraryState> no_library(const std::string& why) {
  return {{"cuBLAS, cuBLASLt, cuDNN and NCCL", "", why}};
}

std::vector<cuda::LibraryState> ask_libraries(const CudaLibraries& libraries) {
  try {
    const auto driver = std::make_shared<const cuda::Driver>(libraries.driver);
    const auto device = std::make_shared<const cuda::CudaDevice>(driver, 0);
    std::vector<cuda::LibraryState> states = cuda::DeviceLibraries(device, libraries.math).states();
    if (driver->device_count() > 1) states.push_back(nccl_state(driver, libraries.math.nccl));
    return states;
  } catch (const std::runtime_error& error) {
    return no_library(error.what());
  }
}

}  // namespace

FoundCudaDevices find_cuda_devices(const CudaLibraries& libraries) {
  Answer answer;
  WorkerPool pool({});
  pool.submit(
      0, [&] { return encoded(answer_of(libraries)); },
      [&](const WorkResult& result) {
        if (result.end == WorkEnd::message) {
          MessageReader(result.message)(answer);
        } else {
          answer.missing = "the process that asked the driver was " + result.how_it_ended;
        }
      });
  pool.run([] { return true; });
  if (!answer.missing.empty()) throw GpuUnavailable(answer.missing);
  return std::move(answer.found);
}

std::vector<cuda::LibraryState> find_libraries(const CudaLibraries& libraries) {
  std::vector<cuda::LibraryState> states;
  WorkerPool pool({});
  pool.submit(
      0, [&] { return encoded(ask_libraries(libraries)); },
      [&](const WorkResult& result) {
        if (result.end == WorkEnd::message) {
          MessageReader(result.message)(states);
        } else {
          states = no_library("the process that opened them " + why_without_message(result, 0));
        }
      });
  pool.run([] { return true; });
  return states;
}

CudaDevices::CudaDevices(const CudaLibraries& libraries)
    : driver_(std::make_shared<cuda::Driver>(libraries.driver)),
      places_(libraries.math),
      groups_(std::make_shared<cuda::DeviceGroups>(libraries.math.nccl)) {
  driver_->on_sticky_error([](const std::string& text) {
    const std::string words =
        fmt::format("the card cannot be used by this process any more: {}\n", text);
    std::fwrite(words.data(), 1, words.size(), stderr);
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
  });
  devices_.resize(static_cast<std::size_t>(driver_->device_count()));
  kernels_.resize(devices_.size());
  libraries_.resize(devices_.size());
  errors_.resize(devices_.size());
}

std::shared_ptr<const cuda::CudaDevice> CudaDevices::device(int index) {
  const int ordinal = index % driver_->device_count();
  std::shared_ptr<const cuda::CudaDevice>& device = devices_[static_cast<std::size_t>(ordinal)];
  if (device) return device;
  device = std::make_shared<const cuda::CudaDevice>(driver_, ordinal);
  for (const auto& other : devices_) {
    if (!other || other == device) continue;
    device->enable_peer_access(*other);
    other->enable_peer_access(*device);
  }
  return device;
}

CudaBackend CudaDevices::backend(int index) {
  CudaBackend backend;
  backend.device = device(index);
  const auto ordinal = static_cast<std::size_t>(backend.device->ordinal());
  std::shared_ptr<const CudaKernels>& kernels = kernels_[ordinal];
  if (!kernels && !kernels::kernel_build().images.empty()) {
    try {
      kernels = std::make_shared<const kernels::KernelModule>(backend.device);
    } catch (const kernels::KernelsUnavailable&) {
      // The host computes: find_cuda_devices() has said why.
    }
  }
  std::shared_ptr<cuda::DeviceLibraries>& libraries = libraries_[ordinal];
  if (!libraries) libraries = std::make_shared<cuda::DeviceLibraries>(backend.device, places_);
  std::shared_ptr<DeferredErrors>& errors = errors_[ordinal];
  if (!errors) errors = std::make_shared<DeferredErrors>(backend.device);
  backend.kernels = kernels;
  backend.libraries = libraries;
  backend.groups = groups_;
  backend.errors = errors;
  return backend;
}

}  // namespace ohm::engine
