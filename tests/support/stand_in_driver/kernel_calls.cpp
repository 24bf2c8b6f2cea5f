// Kernels: the host's twins of them, run where they are launched.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/kernels/host/elementwise_twins.h"
#include "runtime/kernels/host/row_twins.h"
#include "tests/support/stand_in_driver/driver_objects.h"

namespace ohm::stand_in::driver {

using kernels::ElementwiseKernel;
using kernels::RowKernel;

namespace {

constexpr Result kInvalidImage = 200;

/// One of the two is there.
struct Kernel {
  std::string symbol;
  const ElementwiseKernel* loop = nullptr;
  const RowKernel* line = nullptr;
};

const std::vector<Kernel>& kernels() {
  static const std::vector<ElementwiseKernel> loops = kernels::elementwise_kernels();
  static const std::vector<RowKernel> lines = kernels::row_kernels();
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> made;
    for (const ElementwiseKernel& loop : loops) made.push_back({loop.symbol(), &loop, nullptr});
    for (const RowKernel& line : lines) made.push_back({line.symbol(), nullptr, &line});
    return made;
  }();
  return all;
}

/// Takes its time for an image that it has not compiled yet, where the machine has one.
void compile(const char* source) {
  const CompiledImage& slow = machine().compiled;
  if (slow.source != source || std::filesystem::exists(slow.kept)) return;
  std::this_thread::sleep_for(slow.time);
  std::ofstream(slow.kept) << source;
}

}  // namespace

Result module_load(ModuleHandle* module, const void* image) {
  Machine& now = machine();
  if (const int error = now.begin("cuModuleLoadData")) return error;
  constexpr unsigned kFatbin = 0xba55ed50;
  unsigned magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic != kFatbin) return kInvalidImage;
  compile(static_cast<const char*>(image) + sizeof magic);
  auto loaded = std::make_unique<char>();
  *module = reinterpret_cast<ModuleHandle>(loaded.get());
  now.modules.emplace(*module, std::move(loaded));
  return kSuccess;
}

Result module_unload(ModuleHandle module) {
  Machine& now = machine();
  if (const int error = now.begin("cuModuleUnload")) return error;
  if (now.modules.erase(module) == 0) return now.wrong("cuModuleUnload of no module");
  return kSuccess;
}

Result module_function(FunctionHandle* function, ModuleHandle module, const char* name) {
  Machine& now = machine();
  if (const int error = now.begin("cuModuleGetFunction")) return error;
  if (now.modules.count(module) == 0) return now.wrong("cuModuleGetFunction of no module");
  for (const Kernel& kernel : kernels()) {
    if (kernel.symbol != name) continue;
    *function = reinterpret_cast<FunctionHandle>(const_cast<Kernel*>(&kernel));
    return kSuccess;
  }
  return kNotFound;
}

namespace {

/// Puts the address of the operand's memory on this side in its place; false, and a note, where it
/// reaches outside what was allocated.
bool to_host(const ElementwiseLaunch& loop, ElementwiseOperand& operand) {
  if (operand.is_number) return true;
  std::int64_t last = 0;
  for (int dim = 0; dim < loop.dims; ++dim) {
    if (operand.strides[dim] < 0) machine().wrong("a stride backwards");
    last += (loop.sizes[dim] - 1) * operand.strides[dim];
  }
  const std::size_t bytes = (static_cast<std::size_t>(last) + 1) * item_bytes(operand.dtype);
  operand.address = reinterpret_cast<std::uintptr_t>(memory_at(operand.address, bytes));
  return operand.address != 0;
}

bool to_host(RowOperand& operand) {
  if (operand.address == 0) return true;
  const std::size_t bytes = static_cast<std::size_t>(operand.count) * item_bytes(operand.dtype);
  operand.address = reinterpret_cast<std::uintptr_t>(memory_at(operand.address, bytes));
  return operand.address != 0;
}

/// What a kernel wrote first.
struct Written {
  void* memory = nullptr;
  std::size_t item_bytes = 0;
};

// False where it would reach outside what was allocated.
bool run(const ElementwiseKernel& kernel, const void* call, const void* parameters,
         Written& written) {
  ElementwiseLaunch loop = *static_cast<const ElementwiseLaunch*>(call);
  bool is_there = to_host(loop, loop.out);
  for (int i = 0; i < kernel.inputs; ++i) is_there = to_host(loop, loop.in[i]) && is_there;
  if (!is_there) return false;
  kernel.twin(loop, parameters);
  written = {reinterpret_cast<void*>(loop.out.address), item_bytes(loop.out.dtype)};
  return true;
}

bool run(const RowKernel& kernel, const void* call, const void* parameters, Written& written) {
  RowLaunch lines = *static_cast<const RowLaunch*>(call);
  bool is_there = true;
  for (int i = 0; i < lines.operand_count; ++i) {
    is_there = to_host(lines.operands[i]) && is_there;
  }
  if (!is_there) return false;
  kernel.twin(lines, parameters);
  written = {reinterpret_cast<void*>(lines.operands[0].address),
             item_bytes(lines.operands[0].dtype)};
  return true;
}

}  // namespace

Result launch(FunctionHandle function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
              unsigned threads, unsigned threads_y, unsigned threads_z, unsigned /*shared_bytes*/,
              StreamHandle /*stream*/, void** arguments, void** /*extra*/) {
  Machine& now = machine();
  if (const int error = now.begin("cuLaunchKernel")) return error;
  const bool makes_sense = blocks > 0 && blocks_y == 1 && blocks_z == 1 && threads > 0 &&
                           threads <= 1024 && threads_y == 1 && threads_z == 1;
  if (!makes_sense) return now.wrong("cuLaunchKernel with another grid");
  const auto& kernel = *reinterpret_cast<const Kernel*>(function);
  Written written;
  const bool is_allowed = kernel.loop != nullptr
                              ? run(*kernel.loop, arguments[0], arguments[1], written)
                              : run(*kernel.line, arguments[0], arguments[1], written);
  if (!is_allowed) return kIllegalAddress;
  if (now.wrong_result == kernel.symbol) std::memset(written.memory, 0x3c, written.item_bytes);
  return kSuccess;
}

}  // namespace ohm::stand_in::driver
