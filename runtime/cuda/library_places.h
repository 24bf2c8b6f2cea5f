// The places of NVIDIA's libraries of mathematics.
#pragma once

#include <string>
#include <vector>

namespace ohm::cuda {

/// Names that the loader looks up, or paths: the first that can be opened is taken.
using LibraryNames = std::vector<std::string>;

/// The newest version that ohm knows first.
struct LibraryPlaces {
  LibraryNames cublas = {"libcublas.so.13", "libcublas.so.12"};
  LibraryNames cublaslt = {"libcublasLt.so.13", "libcublasLt.so.12"};
  LibraryNames cudnn = {"libcudnn.so.9", "libcudnn.so.8"};
  LibraryNames nccl = {"libnccl.so.2"};
};

}  // namespace ohm::cuda
