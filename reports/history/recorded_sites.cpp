#include "reports/history/recorded_sites.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace ohm::reports {

namespace {

bool is_python(std::string_view file) { return file.ends_with(".py"); }

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

bool is_of_library(std::string_view file) {
  if (file.find('/') == std::string_view::npos) {
    return std::find(kLibraryFiles.begin(), kLibraryFiles.end(), file) != kLibraryFiles.end();
  }
  return file.find("/torch/") != std::string_view::npos ||
         file.find("-packages/") != std::string_view::npos ||
         file.find("/lib/python") != std::string_view::npos;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Functions of the library that say nothing of what is computed: calls of all kinds go through
/// them.
bool is_of_every_call(std::string_view function) {
  return is_one_of(function,
                   {"forward", "backward", "_call_impl", "_wrapped_call_impl", "_apply", "convert",
                    "wrapper", "wrapped", "inner", "_fn", "decorate_context", "decorate_autocast",
                    "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<module>"});
}

std::string_view file_stem(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.substr(0, name.rfind('.'));
}

/// "at::_ops::addmm::call(...)" is addmm, "torch::autograd::generated::MulBackward0::apply(...)" is
/// MulBackward0; empty of the many that only pass a request on.
std::string_view native_op(std::string_view function) {
  constexpr std::string_view kOps = "at::_ops::";
  if (function.starts_with(kOps)) {
    function.remove_prefix(kOps.size());
    return function.substr(0, function.find("::"));
  }
  const std::size_t backward = function.find("Backward0::");
  if (backward == std::string_view::npos) return {};
  const std::size_t colon = function.rfind(':', backward);
  const std::size_t begin = colon == std::string_view::npos ? 0 : colon + 1;
  return function.substr(begin, function.find("::", backward) - begin);
}

/// What one frame says, if anything.
std::optional<Category> told_by_frame(std::string_view file, std::string_view function) {
  if (!is_python(file)) return std::nullopt;
  const std::string_view name = base_name(file);
  const bool is_optimizer =
      file.find("/optim/") != std::string_view::npos ||
      is_one_of(name, {"optimizer.py", "adam.py", "adamw.py", "sgd.py", "adagrad.py", "rmsprop.py",
                       "lion.py", "adafactor.py"});
  if (is_optimizer && function != "zero_grad") return Category::optimizer_state;
  if (is_one_of(function, {"backward", "_engine_run_backward", "grad"})) return Category::gradient;
  if (is_one_of(function, {"forward", "_call_impl", "_wrapped_call_impl"})) {
    return Category::activation;
  }
  if (is_one_of(function, {"_apply", "load_state_dict", "reset_parameters"})) {
    return Category::parameter;
  }
  if (is_one_of(function, {"pin_memory", "collate", "default_collate", "__next__"})) {
    return Category::input;
  }
  return std::nullopt;
}

}  // namespace

SiteId RecordedSites::of(StackId stack) {
  if (stack == kNoStack) return 0;
  const auto [known, is_new] = ids_.try_emplace(stack, static_cast<SiteId>(sites_.size()));
  if (is_new) {
    sites_.push_back(site_of(stack));
    categories_.push_back(told_by(stack));
  }
  return known->second;
}

Category RecordedSites::told_by(StackId stack) const {
  // From the inside out; a module that is made on the device makes parameters.
  bool is_in_constructor = false;
  for (const FrameId id : tables_.stack(stack)) {
    const StackFrame& frame = tables_.frame(id);
    const std::string_view function = tables_.text(frame.name);
    const auto told = told_by_frame(tables_.text(frame.filename), function);
    if (told) return *told;
    is_in_constructor = is_in_constructor || function == "__init__";
  }
  return is_in_constructor ? Category::parameter : Category::other;
}

HistorySite RecordedSites::site_of(StackId stack) const {
  const StackFrame* place = nullptr;
  for (const FrameId id : tables_.stack(stack)) {
    const StackFrame& frame = tables_.frame(id);
    const std::string_view file = tables_.text(frame.filename);
    const bool is_better =
        place == nullptr || (!is_python(tables_.text(place->filename)) && is_python(file));
    if (is_better) place = &frame;
    if (!is_python(file) || is_of_library(file)) continue;
    place = &frame;
    break;
  }
  if (place == nullptr) return {};
  return {std::string(tables_.text(place->filename)), place->line, op_of(stack)};
}

std::string RecordedSites::op_of(StackId stack) const {
  std::string_view module;    // the file of a module's forward
  std::string_view function;  // of the program's own
  for (const FrameId id : tables_.stack(stack)) {
    const StackFrame& frame = tables_.frame(id);
    const std::string_view file = tables_.text(frame.filename);
    const std::string_view name = tables_.text(frame.name);
    if (!is_python(file)) {
      const std::string_view op = native_op(name);
      if (!op.empty()) return std::string(op);
      continue;
    }
    if (!is_of_library(file)) {
      // A comprehension is a part of the function around it.
      function = name;
      if (!name.starts_with('<')) break;
      continue;
    }
    if (!function.empty()) break;  // who called the program's own says nothing of it
    if (!is_of_every_call(name)) return std::string(name);
    if (module.empty() && name == "forward") module = file_stem(file);
  }
  return std::string(module.empty() ? function : module);
}

}  // namespace ohm::reports
