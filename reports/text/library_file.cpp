#include "reports/text/library_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace ohm::reports {

namespace {

/// Of PyTorch's own files those that stand on stacks; records can have names without folders.
constexpr std::array<std::string_view, 34> kPyTorchFiles = {
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

/// Of other packages those whose names users do not give to files of their own.
constexpr std::array<std::string_view, 1> kPackageFiles = {"einops.py"};

constexpr std::array<std::string_view, 13> kPassCallsOn = {"_call_impl",
                                                           "_wrapped_call_impl",
                                                           "_apply",
                                                           "convert",
                                                           "wrapper",
                                                           "wrapped",
                                                           "wrapped_func",
                                                           "inner",
                                                           "_fn",
                                                           "decorate_context",
                                                           "<lambda>",
                                                           "new_forward",
                                                           "decorate_autocast"};

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_no_folder(std::string_view path) { return path.find('/') == std::string_view::npos; }

/// With the separators of Unix.
std::string with_slashes(std::string_view path) {
  std::string out(path);
  std::replace(out.begin(), out.end(), '\\', '/');
  return out;
}

/// Python's own files on Windows lie in `lib` of an interpreter or an environment.
bool is_of_windows_python(const std::string& path) {
  const bool has_drive = path.size() > 2 && path[1] == ':' && path[2] == '/';
  if (!has_drive) return false;
  std::string lower = path;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t lib = lower.find("/lib/");
  if (lib == std::string::npos) return false;
  const std::string_view before = std::string_view(lower).substr(0, lib);
  return before.find("conda") != std::string_view::npos ||
         before.find("/envs/") != std::string_view::npos ||
         before.find("/python") != std::string_view::npos;
}

/// Code that has no file: "<frozen runpy>", "<string>"; but not what is typed in by the user.
bool is_without_file(std::string_view path) {
  return path.starts_with('<') && !path.starts_with("<ipython-input") && path != "<stdin>";
}

}  // namespace

bool is_library_file(std::string_view written) {
  const std::string path = with_slashes(written);
  if (is_without_file(path) || is_of_windows_python(path)) return true;
  if (has_no_folder(path)) return is_one_of(kPyTorchFiles, path) || is_one_of(kPackageFiles, path);
  constexpr std::array<std::string_view, 4> kFolders = {"/torch/", "site-packages/",
                                                        "dist-packages/", "/lib/python"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) {
    return path.find(folder) != std::string::npos;
  });
}

bool is_pytorch_file(std::string_view path) {
  const std::string installed = installed_path(path);
  return has_no_folder(installed) ? is_one_of(kPyTorchFiles, installed)
                                  : installed.starts_with("torch/");
}

bool passes_calls_on(std::string_view function) { return is_one_of(kPassCallsOn, function); }

std::string installed_path(std::string_view written) {
  const std::string path = with_slashes(written);
  constexpr std::string_view kPackages = "-packages/";
  const std::size_t packages = path.rfind(kPackages);
  if (packages != std::string::npos) return path.substr(packages + kPackages.size());
  constexpr std::string_view kPython = "/lib/python";  // and its version: "3.11/contextlib.py"
  const std::size_t python = path.rfind(kPython);
  if (python != std::string::npos) return path.substr(path.find('/', python + kPython.size()) + 1);
  const std::size_t torch = path.rfind("/torch/");
  return torch == std::string::npos ? path : path.substr(torch + 1);
}

bool is_source_file(std::string_view path) {
  return path.ends_with(".py") || path.ends_with(".lua");
}

}  // namespace ohm::reports
