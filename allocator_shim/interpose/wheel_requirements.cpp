#include "allocator_shim/interpose/wheel_requirements.h"

#include <link.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace ohm::interpose {
namespace {

namespace fs = std::filesystem;

/// "site-packages/torch/lib/libtorch_cuda.so" of the loaded libraries; empty: there is none.
fs::path loaded_torch_library() {
  std::string found;
  const auto look = [](dl_phdr_info* library, std::size_t /*size*/, void* path) {
    const std::string_view name = library->dlpi_name;
    if (!name.ends_with("/libtorch_cuda.so")) return 0;
    *static_cast<std::string*>(path) = name;
    return 1;
  };
  ::dl_iterate_phdr(look, &found);
  return found;
}

/// The METADATA of the wheel that lies beside "torch"; empty: there is none.
std::string metadata_beside(const fs::path& torch) {
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator(torch.parent_path(), gone)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("torch-") || !name.ends_with(".dist-info")) continue;
    std::ifstream file(entry.path() / "METADATA");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  return {};
}

}  // namespace

std::optional<LibraryVersion> required_cudnn(std::string_view metadata) {
  const std::size_t requirement = metadata.find("\nRequires-Dist: nvidia-cudnn-");
  if (requirement == std::string_view::npos) return std::nullopt;
  std::string_view rest = metadata.substr(requirement + 1);
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t equals = rest.find("==");
  if (equals == std::string_view::npos) return std::nullopt;
  const char* next = rest.data() + equals + 2;
  const char* const end = rest.data() + rest.size();
  LibraryVersion version{};
  for (int& part : version) {
    const auto [stop, error] = std::from_chars(next, end, part);
    if (error != std::errc()) return std::nullopt;
    next = stop != end && *stop == '.' ? stop + 1 : stop;
  }
  return version;
}

std::optional<LibraryVersion> cudnn_of_loaded_torch() {
  static const std::optional<LibraryVersion> known = [] {
    const fs::path library = loaded_torch_library();
    if (library.empty()) return std::optional<LibraryVersion>();
    return required_cudnn(metadata_beside(library.parent_path().parent_path()));
  }();
  return known;
}

}  // namespace ohm::interpose
