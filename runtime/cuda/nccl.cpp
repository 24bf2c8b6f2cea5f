#include "runtime/cuda/nccl.h"

#include <fmt/format.h>

#include <utility>

namespace ohm::cuda {
namespace {

NcclFunctions functions_of(const SharedLibrary& library) {
  NcclFunctions functions;
#define OHM_ROW(member, symbol, ...) library.find(#symbol, functions.member);
  OHM_FOR_EACH_NCCL_FUNCTION(OHM_ROW)
#undef OHM_ROW
  library.find(kNcclResultText, functions.result_text);
  return functions;
}

}  // namespace

Nccl::Nccl(std::vector<std::shared_ptr<const CudaDevice>> devices, const LibraryNames& names)
    : devices_(std::move(devices)), comms_(devices_.size()) {
  std::vector<int> ordinals;
  for (const auto& device : devices_) ordinals.push_back(device->ordinal());
  const auto count = static_cast<int>(ordinals.size());
  use_first(names, [&](const std::string& name) {
    library_ = std::make_unique<SharedLibrary>(name, kName);
    functions_ = functions_of(*library_);
    check(functions_.create_all(comms_.data(), count, ordinals.data()), "ncclCommInitAll");
  });
}

Nccl::~Nccl() {
  if (!devices_.front()->driver().is_usable()) return;
  for (NcclComm comm : comms_) functions_.destroy(comm);
}

/// It has one answer for everything that CUDA refused it, a lack of memory included. Any of the
/// devices may have broken.
void Nccl::check(NcclResult result, const char* call) const {
  if (result == 0) return;
  for (const auto& device : devices_) device->synchronize();
  fail_library(*devices_.front(), LibraryFailure::other, kName, call,
               functions_.result_text(result));
}

std::string Nccl::version() const {
  int version = 0;
  check(functions_.version(&version), "ncclGetVersion");
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

template <class Queue>
void Nccl::for_each_device(const char* call, Queue&& queue) const {
  check(functions_.group_start(), "ncclGroupStart");
  NcclResult first_failure = 0;
  for (std::size_t i = 0; i < devices_.size() && first_failure == 0; ++i) {
    devices_[i]->current();
    first_failure = queue(i);
  }
  // A group that was begun is ended, whatever became of it.
  const NcclResult ended = functions_.group_end();
  check(first_failure, call);
  check(ended, "ncclGroupEnd");
}

void Nccl::all_reduce_sum(const Pieces& inputs, const Pieces& outputs,
                          const CollectiveItems& items) const {
  for_each_device("ncclAllReduce", [&](std::size_t i) {
    return functions_.all_reduce(as_pointer(inputs[i]), as_pointer(outputs[i]), items.count,
                                 items.type, kNcclSum, comms_[i], nullptr);
  });
}

void Nccl::broadcast(const Pieces& inputs, const Pieces& outputs, const CollectiveItems& items,
                     int root) const {
  for_each_device("ncclBroadcast", [&](std::size_t i) {
    return functions_.broadcast(as_pointer(inputs[i]), as_pointer(outputs[i]), items.count,
                                items.type, root, comms_[i], nullptr);
  });
}

void Nccl::reduce_sum(const Pieces& inputs, Pointer output, const CollectiveItems& items,
                      int root) const {
  for_each_device("ncclReduce", [&](std::size_t i) {
    const bool is_root = static_cast<int>(i) == root;
    return functions_.reduce(as_pointer(inputs[i]), as_pointer(is_root ? output : inputs[i]),
                             items.count, items.type, kNcclSum, root, comms_[i], nullptr);
  });
}

void Nccl::all_gather(const Pieces& inputs, const Pieces& outputs,
                      const CollectiveItems& items) const {
  for_each_device("ncclAllGather", [&](std::size_t i) {
    return functions_.all_gather(as_pointer(inputs[i]), as_pointer(outputs[i]), items.count,
                                 items.type, comms_[i], nullptr);
  });
}

void Nccl::reduce_scatter_sum(const Pieces& inputs, const Pieces& outputs,
                              const CollectiveItems& items) const {
  for_each_device("ncclReduceScatter", [&](std::size_t i) {
    return functions_.reduce_scatter(as_pointer(inputs[i]), as_pointer(outputs[i]), items.count,
                                     items.type, kNcclSum, comms_[i], nullptr);
  });
}

}  // namespace ohm::cuda
