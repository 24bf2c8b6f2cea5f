#include "reports/history/recorded_sites.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "allocator_shim/base/base_name.h"
#include "reports/history/backward_calls.h"
#include "reports/history/library_lines.h"
#include "reports/history/native_frames.h"
#include "reports/history/user_frames.h"
#include "reports/text/library_file.h"

namespace ohm::reports {

namespace {

bool is_python(std::string_view file) { return file.ends_with(".py"); }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Functions of the library that say nothing of what is computed.
bool is_of_every_call(std::string_view function) {
  return passes_calls_on(function) || is_one_of(function, {"forward", "backward", "<listcomp>",
                                                           "<genexpr>", "<dictcomp>", "<module>"});
}

/// Of torch.autograd.Function: what calls it has a name.
bool is_apply_of_function(std::string_view file, std::string_view function) {
  return function == "apply" && base_name(file) == "function.py";
}

bool is_call_of_module(std::string_view function) {
  return is_one_of(function, {"_call_impl", "_wrapped_call_impl"});
}

std::string_view file_stem(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.substr(0, name.rfind('.'));
}

/// A frame of this file stands for the module that it names; ohm record --modules puts it there.
constexpr std::string_view kModuleFile = "<ohm record module>";

/// Of ohm's own snapshots: a frame is an op, in the line of the scenario that called it.
bool is_of_scenario(std::string_view file) { return file.ends_with(".lua"); }

/// "torch::autograd::generated::AddmmBackward0::apply(...)" is AddmmBackward0; empty of others.
std::string_view node_of_autograd(std::string_view function) {
  constexpr std::string_view kBackward = "Backward";
  const std::size_t at = function.find(kBackward);
  if (at == std::string_view::npos) return {};
  const std::size_t end = function.find("::", at);
  const bool has_digits =
      end != std::string_view::npos &&
      function.substr(at, end - at).find_first_not_of("0123456789", kBackward.size()) ==
          std::string_view::npos;
  if (!has_digits || end == at + kBackward.size()) return {};
  const std::size_t colon = function.rfind(':', at);
  const std::size_t begin = colon == std::string_view::npos ? 0 : colon + 1;
  return function.substr(begin, end - begin);
}

/// "at::_ops::addmm::call(...)" is addmm; empty of the many that only pass a request on.
std::string_view native_op(std::string_view function) {
  constexpr std::string_view kOps = "at::_ops::";
  if (!function.starts_with(kOps)) return {};
  function.remove_prefix(kOps.size());
  return function.substr(0, function.find("::"));
}

/// Ops that others make their results with.
bool is_factory(std::string_view op) {
  return op.starts_with("empty") || op == "resize_" || op == "new_empty" ||
         op == "new_empty_strided";
}

/// Of the native frames that stand before the first one of Python: a node of autograd, or the
/// innermost op that is more than a factory of others, or the factory.
class NativeOp {
 public:
  void add(std::string_view function) {
    const std::string_view node = node_of_autograd(function);
    if (node_.empty()) node_ = node;
    const std::string_view op = native_op(function);
    if (op.empty()) return;
    if (op_.empty() && !is_factory(op)) op_ = op;
    if (factory_.empty()) factory_ = op;
  }
  std::string_view name() const {
    if (!node_.empty()) return node_;
    return op_.empty() ? factory_ : op_;
  }

 private:
  std::string_view node_;
  std::string_view op_;
  std::string_view factory_;
};

/// What one frame says, if anything.
std::optional<Category> told_by_frame(std::string_view file, std::string_view function) {
  if (!is_python(file)) {
    const bool is_backward = !node_of_autograd(function).empty() ||
                             function.find("torch::autograd::Engine::") != std::string_view::npos;
    return is_backward ? std::optional(Category::gradient) : std::nullopt;
  }
  const std::string_view name = base_name(file);
  const bool is_optimizer =
      file.find("/optim/") != std::string_view::npos ||
      file.find("\\optim\\") != std::string_view::npos ||
      is_one_of(name, {"optimizer.py", "adam.py", "adamw.py", "sgd.py", "adagrad.py", "rmsprop.py",
                       "lion.py", "adafactor.py"});
  if (is_optimizer && function != "zero_grad") return Category::optimizer_state;
  if (is_one_of(function, {"backward", "_engine_run_backward", "grad"})) return Category::gradient;
  if (function == "_ddp_init_helper") return Category::gradient;  // its buckets
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
  const auto [known, is_new] = ids_.try_emplace(stack);
  if (is_new) {
    HistorySite site = site_of(stack);
    site.module = module_of(stack);
    site.call = calls_.of(stack);
    known->second = add(std::move(site), told_by(stack));
  }
  return known->second;
}

SiteId RecordedSites::in_backward(StackId stack, StackId beginning) {
  const SiteId own = of(stack);
  const Ownership ownership = ownership_of(sites_[own]);
  if (ownership == Ownership::own) return own;
  const auto [known, is_new] = ids_in_backward_.try_emplace({stack, beginning}, own);
  // A thread of Python's, all of whose lines are a library's, keeps its own.
  if (is_new && !is_of_python_thread(tables_, stack)) {
    HistorySite site = site_of(beginning);
    const bool is_no_better = ownership != Ownership::library && ownership_of(site) <= ownership;
    if (is_no_better) return own;
    site.op = sites_[own].op.empty() ? "backward" : sites_[own].op;
    site.module = sites_[own].module;
    site.call = calls_.caller(calls_.of(beginning), frames_of_first_gradient(tables_, beginning));
    known->second = add(std::move(site), categories_[own]);
  }
  return known->second;
}

SiteId RecordedSites::add(HistorySite site, Category category) {
  sites_.push_back(std::move(site));
  categories_.push_back(category);
  return static_cast<SiteId>(sites_.size() - 1);
}

void RecordedSites::tell_apart() {
  struct Line {
    std::vector<SiteId> sites;
    std::vector<LibraryCall> calls;
  };
  std::map<std::pair<std::string_view, int>, Line> lines;
  for (const auto& [stack, id] : ids_) {
    const HistorySite& site = sites_[id];
    if (!is_python(site.file) || ownership_of(site) == Ownership::library) continue;
    Line& line = lines[{site.file, site.line}];
    line.sites.push_back(id);
    line.calls.push_back({stack, site.op});
  }
  for (const auto& [place, line] : lines) {
    const std::vector<std::string> texts = library_lines(tables_, files_, line.calls);
    for (std::size_t i = 0; i < texts.size(); ++i) sites_[line.sites[i]].library = texts[i];
  }
}

void RecordedSites::move_to(MemoryHistory& history) {
  history.sites = std::move(sites_);
  calls_.move_to(history);
}

bool RecordedSites::is_within_library(StackId stack) const {
  for (const FrameId id : tables_.stack(stack)) {
    const std::string_view file = tables_.text(tables_.frame(id).filename);
    if (is_python(file)) return files_.ownership(file) == Ownership::library;
  }
  return false;
}

/// What DataParallel copies to other GPUs, by a function of autograd that has a forward.
bool RecordedSites::is_of_replicas(StackId stack) const {
  const auto& frames = tables_.stack(stack);
  return std::any_of(frames.begin(), frames.end(), [this](FrameId id) {
    const StackFrame& frame = tables_.frame(id);
    return tables_.text(frame.name) == "replicate" &&
           tables_.text(frame.filename).ends_with("/parallel/replicate.py");
  });
}

/// Its threads run Python where an op is written in it, and begin in the middle of PyTorch.
bool RecordedSites::is_of_autograd_thread(StackId stack) const {
  const auto& frames = tables_.stack(stack);
  if (std::empty(frames)) return false;
  const StackFrame& outermost = tables_.frame(*std::prev(frames.end()));
  const std::string_view file = tables_.text(outermost.filename);
  const bool is_installed = file.find("/site-packages/torch/") != std::string_view::npos ||
                            file.find("\\site-packages\\torch\\") != std::string_view::npos;
  return is_installed && tables_.text(outermost.name) != "<module>";
}

Category RecordedSites::told_by(StackId stack) const {
  if (is_of_replicas(stack)) return Category::parameter;
  // From the inside out; a module that is made on the device makes parameters.
  bool is_in_constructor = false;
  for (const FrameId id : tables_.stack(stack)) {
    const StackFrame& frame = tables_.frame(id);
    const std::string_view function = tables_.text(frame.name);
    const auto told = told_by_frame(tables_.text(frame.filename), function);
    if (told) return *told;
    is_in_constructor = is_in_constructor || function == "__init__";
  }
  if (is_in_constructor) return Category::parameter;
  return is_of_autograd_thread(stack) ? Category::gradient : Category::other;
}

HistorySite RecordedSites::site_of(StackId stack) const {
  const auto named = named_frame(tables_, stack, files_);
  if (!named) return {"", 0, op_of(stack), "", 0};
  const StackFrame& place = tables_.frame(tables_.stack(stack)[*named]);
  return {std::string(tables_.text(place.filename)), place.line, op_of(stack), "", 0};
}

Ownership RecordedSites::ownership_of(const HistorySite& site) const {
  return site.file.empty() ? Ownership::library : files_.ownership(site.file);
}

std::string RecordedSites::module_of(StackId stack) const {
  for (const FrameId id : tables_.stack(stack)) {
    const StackFrame& frame = tables_.frame(id);
    if (tables_.text(frame.filename) == kModuleFile) return std::string(tables_.text(frame.name));
  }
  return "";
}

std::string RecordedSites::native_function(StackId stack) const {
  const auto named = named_native_frame(tables_, stack);
  if (!named) return "";
  return std::string(tables_.text(tables_.frame(tables_.stack(stack)[*named]).name));
}

std::string RecordedSites::op_of(StackId stack) const {
  if (is_native_stack(tables_, stack)) return native_function(stack);
  std::string_view module;    // the file of a module's forward, which is its kind in PyTorch
  std::string_view function;  // of the program's own
  NativeOp native;
  const std::size_t libraries = library_frames(tables_, stack, files_);
  std::size_t index = 0;
  for (const FrameId id : tables_.stack(stack)) {
    const StackFrame& frame = tables_.frame(id);
    const std::string_view file = tables_.text(frame.filename);
    const std::string_view name = tables_.text(frame.name);
    const bool is_of_library = index++ < libraries || is_library(file);
    if (is_of_scenario(file)) return std::string(name);
    if (!is_python(file)) {
      native.add(name);
      continue;
    }
    if (!native.name().empty()) break;
    if (!is_of_library) {
      // A comprehension is a part of the function around it.
      function = name;
      if (!name.starts_with('<')) break;
      continue;
    }
    if (!function.empty()) break;  // who called the program's own says nothing of it
    if (!module.empty() && is_call_of_module(name)) break;
    if (!is_of_every_call(name) && !is_apply_of_function(file, name)) return std::string(name);
    if (module.empty() && name == "forward")
      module = is_pytorch_file(file) ? file_stem(file) : name;
  }
  if (!native.name().empty()) return std::string(native.name());
  return std::string(module.empty() ? function : module);
}

}  // namespace ohm::reports
