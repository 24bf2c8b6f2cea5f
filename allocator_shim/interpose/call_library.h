// The library of a CUDA call, by the beginning of its name: whose status codes it returns.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ohm::interpose {

enum class CallLibrary : std::uint8_t {
  cuda,  ///< the runtime and the driver
  nccl,
  cublas,
  cudnn,
  cufft,
  curand,
  cusolver,
  cusparse,
  none  ///< calls of others do not fail by a plan
};

constexpr CallLibrary library_of_call(std::string_view name) {
  struct Row {
    std::string_view prefix;
    CallLibrary library;
  };
  // "cu" begins most of the others.
  constexpr std::array kRows = {
      Row{"nccl", CallLibrary::nccl},         Row{"cublas", CallLibrary::cublas},
      Row{"cudnn", CallLibrary::cudnn},       Row{"cufft", CallLibrary::cufft},
      Row{"curand", CallLibrary::curand},     Row{"cusolver", CallLibrary::cusolver},
      Row{"cusparse", CallLibrary::cusparse}, Row{"cupti", CallLibrary::none},
      Row{"cufile", CallLibrary::none},       Row{"cu", CallLibrary::cuda}};
  while (name.starts_with('_')) name.remove_prefix(1);
  for (const Row& row : kRows) {
    if (name.starts_with(row.prefix)) return row.library;
  }
  return CallLibrary::none;
}

}  // namespace ohm::interpose
