#include "reports/text/library_file.h"

#include <algorithm>
#include <array>

namespace ohm::reports {

namespace {

/// Of PyTorch's own files those that stand on stacks; records can have names without folders.
constexpr std::array<std::string_view, 34> kLibraryFiles = {
    "__init__.py",    "_backends.py",      "_compile.py",
    "_contextlib.py", "_foreach_utils.py", "_functions.py",
    "_tensor.py",     "activation.py",     "adam.py",
    "adamw.py",       "apply.py",          "autocast_mode.py",
    "batchnorm.py",   "checkpoint.py",     "clip_grad.py",
    "container.py",   "conv.py",           "data_parallel.py",
    "distributed.py", "dropout.py",        "function.py",
    "functional.py",  "grad_scaler.py",    "graph.py",
    "linear.py",      "loss.py",           "lr_scheduler.py",
    "module.py",      "normalization.py",  "optimizer.py",
    "pooling.py",     "replicate.py",      "sgd.py",
    "sparse.py"};

}  // namespace

bool is_library_file(std::string_view path) {
  if (path.find('/') == std::string_view::npos) {
    return std::find(kLibraryFiles.begin(), kLibraryFiles.end(), path) != kLibraryFiles.end();
  }
  return path.find("/torch/") != std::string_view::npos ||
         path.find("-packages/") != std::string_view::npos ||
         path.find("/lib/python") != std::string_view::npos;
}

}  // namespace ohm::reports
