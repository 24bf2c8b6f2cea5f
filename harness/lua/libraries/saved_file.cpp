#include "harness/lua/libraries/saved_file.h"

#include <algorithm>
#include <map>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::lua {

namespace {

// By way of the host, one storage at a time.
SavedStorage saved_storage(const Tensor& tensor) {
  SavedStorage saved;
  saved.device = tensor.device();
  saved.dtype = tensor.dtype();
  saved.count = static_cast<std::int64_t>(tensor.storage().bytes() / item_bytes(tensor.dtype()));
  const Tensor host = transfer(make_view(tensor, {saved.count}, {1}, 0), Device::cpu());
  if (host.has_values()) {
    const auto* const values = host.storage().read_values();
    saved.values.assign(values, values + host.nbytes());
  }
  return saved;
}

Tensor loaded_storage(const SavedStorage& saved, Device device) {
  const Tensor host = empty({saved.count}, {saved.dtype, Device::cpu()});
  if (host.has_values() && !saved.values.empty()) {
    std::copy(saved.values.begin(), saved.values.end(), host.storage().values());
  }
  return transfer(host, device);
}

}  // namespace

std::size_t bytes_of(const SavedFile& file) {
  std::size_t bytes = sizeof file + file.tensors.size() * sizeof(SavedTensor);
  for (const SavedStorage& storage : file.storages) bytes += sizeof storage + storage.values.size();
  const auto add_text = [&](const SavedValue& value) {
    if (const auto* const text = std::get_if<std::string>(&value)) bytes += text->size();
  };
  add_text(file.root);
  for (const SavedTable& table : file.tables) {
    bytes += sizeof(SavedTable) + table.size() * sizeof(SavedTable::value_type);
    for (const auto& [key, value] : table) add_text(key), add_text(value);
  }
  return bytes;
}

void save_tensors(SavedFile& file, const std::vector<std::pair<Tensor, bool>>& tensors) {
  std::map<const Storage*, std::size_t> numbers;
  for (const auto& [tensor, is_parameter] : tensors) {
    const auto [place, is_new] = numbers.emplace(&tensor.storage(), file.storages.size());
    if (is_new) file.storages.push_back(saved_storage(tensor));
    file.tensors.push_back({place->second, tensor.shape(), tensor.strides(), tensor.impl()->offset,
                            tensor.requires_grad(), is_parameter});
  }
}

std::vector<Tensor> loaded_tensors(const SavedFile& file,
                                   const std::function<Device(Device saved)>& device_of) {
  std::vector<Tensor> storages(file.storages.size());
  std::vector<Tensor> tensors;
  for (const SavedTensor& saved : file.tensors) {
    Tensor& storage = storages[saved.storage];
    if (!storage.defined()) {
      const SavedStorage& bytes = file.storages[saved.storage];
      storage = loaded_storage(bytes, device_of(bytes.device));
    }
    tensors.push_back(make_view(storage, saved.shape, saved.strides, saved.offset));
    tensors.back().impl()->is_view = false;
    if (saved.requires_grad) tensors.back().set_requires_grad(true);
  }
  return tensors;
}

}  // namespace ohm::lua
