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

/// The library's code for an argument that cannot be, such as no place for an answer.
constexpr int invalid_argument_of(CallLibrary library) {
  switch (library) {
    case CallLibrary::cublas:
      return 7;
    case CallLibrary::cudnn:
      return 2000;
    case CallLibrary::nccl:
    case CallLibrary::cufft:
      return 4;
    case CallLibrary::cusolver:
    case CallLibrary::cusparse:
      return 3;
    case CallLibrary::curand:
    case CallLibrary::cuda:
    case CallLibrary::none:
      break;
  }
  return 1;
}

/// For a handle that is none, or gone.
constexpr int dead_handle_of(CallLibrary library) {
  switch (library) {
    case CallLibrary::cudnn:
      return 2000;
    case CallLibrary::curand:
      return 101;
    case CallLibrary::cuda:
      return 400;
    default:
      return 1;
  }
}

}  // namespace ohm::interpose
