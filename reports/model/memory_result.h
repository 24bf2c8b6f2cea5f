// Memory of a variant: its devices, the host, an out-of-memory error, what its variables retained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/observe/category.h"
#include "reports/model/fields.h"

namespace ohm {

/// Blocks that one line of the scenario made and that were alive, summed.
struct HolderResult {
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< number of blocks
  Category category = Category::other;
  std::string op;  ///< e.g. "relu"; empty outside any op
  std::string file;
  int line = 0;              ///< 1-based; 0 when unknown
  std::string text = {};     ///< of that line, without blanks around; empty: not looked up
  std::string library = {};  ///< the library's line behind it: "timm/layers/mlp.py:43 forward"
  std::string module = {};   ///< path of the module that was running; "*" where several did

  static constexpr const char* kSchemaName = "holder";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HolderResult;
    visit("bytes", &T::bytes);
    visit("count", &T::count);
    visit("category", &T::category);
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("text", &T::text, Presence::optional, "Source text of the line.");
    visit("library", &T::library, Presence::optional,
          "The library's line behind it, where several share it.");
    visit("module", &T::module, Presence::optional,
          "Path of the module that was running; * where it was several.");
  }
};

/// What made up the peak of a device.
struct PeakResult {
  std::int64_t event = 0;             ///< ordinal of the event that reached it
  std::int64_t step = 1;              ///< 1-based: one more than the steps finished by then
  std::vector<HolderResult> holders;  ///< all of them: they add up to peak_allocated_bytes

  static constexpr const char* kSchemaName = "peak";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = PeakResult;
    visit("event", &T::event, "Ordinal of the event that reached it.");
    visit("step", &T::step);
    visit("holders", &T::holders, "All holders: they add up to the peak.");
  }
};

/// One GPU over the whole variant.
struct DeviceResult {
  std::string device;   ///< "cuda:0"
  std::string profile;  ///< name of the GPU profile
  std::string card;     ///< the real one that it is on, and its driver; empty: it is virtual
  std::int64_t capacity_bytes = 0;          ///< what the device reports as its total memory
  bool values = true;                       ///< false: size-only, no arithmetic was done
  std::string rules;                        ///< which PyTorch's allocator: "pytorch-2.6"
  std::string alloc_conf;                   ///< its settings, as last written; empty: none
  std::int64_t peak_allocated_bytes = 0;    ///< largest sum of blocks handed out
  std::int64_t peak_reserved_bytes = 0;     ///< largest sum of segments
  std::int64_t allocated_at_end_bytes = 0;  ///< after the function returned and its values went
  std::int64_t num_ooms = 0;                ///< out-of-memory errors, caught ones included
  std::int64_t num_alloc_retries = 0;       ///< segments that came after the cache was flushed
  std::int64_t num_device_alloc = 0;        ///< segments obtained (cudaMalloc)
  CategoryBytes peak_by_category = {};      ///< of peak_allocated_bytes, when it was first reached
  std::optional<PeakResult> peak;           ///< where it was asked for
  /// Names of the assumptions that the bytes rest on; empty: they are exact.
  std::vector<std::string> modelled = {};

  static constexpr const char* kSchemaName = "device";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = DeviceResult;
    visit("device", &T::device);
    visit("profile", &T::profile);
    visit("card", &T::card, Presence::optional,
          "The real card that the GPU is on, and its driver; absent: it is virtual.");
    visit("capacity_bytes", &T::capacity_bytes);
    visit("values", &T::values, "False: size-only, no arithmetic was done.");
    visit("rules", &T::rules, Presence::later, "Rule set of the allocator, such as pytorch-2.6.");
    visit("alloc_conf", &T::alloc_conf, Presence::later,
          "Settings as PYTORCH_CUDA_ALLOC_CONF spells them; empty for none.");
    visit("peak_allocated_bytes", &T::peak_allocated_bytes);
    visit("peak_reserved_bytes", &T::peak_reserved_bytes);
    visit("allocated_at_end_bytes", &T::allocated_at_end_bytes);
    visit("num_ooms", &T::num_ooms);
    visit("num_alloc_retries", &T::num_alloc_retries);
    visit("num_device_alloc", &T::num_device_alloc);
    visit("peak_by_category", &T::peak_by_category, kKeyedBy<Category>);
    visit("peak", &T::peak, Presence::optional, "What made up peak_allocated_bytes.");
    visit("modelled", &T::modelled, Presence::optional,
          "Names of the assumptions that the bytes rest on; absent: they are exact.");
  }
};

/// The host over the whole variant.
struct HostResult {
  std::int64_t peak_allocated_bytes = 0;
  std::int64_t allocated_at_end_bytes = 0;  ///< cached pinned memory included
  std::int64_t pinned_bytes = 0;            ///< obtained in all, each block counted once
  std::int64_t num_ooms = 0;
  std::optional<PeakResult> peak = {};  ///< of a program whose requests were recorded

  static constexpr const char* kSchemaName = "host";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = HostResult;
    visit("peak_allocated_bytes", &T::peak_allocated_bytes,
          "Of tensors, pinned memory included; under ohm exec, of all requests of the program.");
    visit("allocated_at_end_bytes", &T::allocated_at_end_bytes);
    visit("pinned_bytes", &T::pinned_bytes, "All pinned memory obtained.");
    visit("num_ooms", &T::num_ooms);
    visit("peak", &T::peak, Presence::optional,
          "What made up peak_allocated_bytes, of a program that ohm exec ran.");
  }
};

/// OomResult::device where all of a program's memory is meant, not its tensors on the CPU.
inline constexpr const char* kHostDevice = "host";

/// An out-of-memory error, and what was alive on its device when it happened.
struct OomResult {
  std::int64_t step = 1;             ///< 1-based: one more than the finished steps; 0: it has none
  std::string device;                ///< "cuda:0", "cpu", or "host" for that of a whole program
  std::int64_t requested_bytes = 0;  ///< as the op asked
  std::int64_t segment_bytes = 0;    ///< as the device was asked: the message's figure
  Category category = Category::other;
  std::string op;
  std::string file;
  int line = 0;
  std::string message;    ///< PyTorch's, character by character
  bool injected = false;  ///< refused by a fault policy
  std::string policy;     ///< that policy; empty when genuine
  CategoryBytes alive_by_category = {};
  std::vector<HolderResult> holders;  ///< largest first, at most kMaxHolders of them
  std::int64_t other_holders = 0;     ///< how many more there were
  std::string library = {};           ///< the library's line behind `line`, as of a holder
  std::string module = {};            ///< path of the module that was running
  // Beside tensors, on this device: 0 where it is not known.
  std::int64_t reserved_bytes = 0;      ///< by the allocator
  std::int64_t rounding_bytes = 0;      ///< of blocks beyond what was requested
  std::int64_t private_pool_bytes = 0;  ///< free in private pools, for nothing else
  std::int64_t outside_bytes = 0;       ///< of this process, outside the allocator
  std::int64_t other_process_bytes = 0;
  std::int64_t free_bytes = 0;  ///< on the card
  bool expandable_segments = false;

  static constexpr const char* kSchemaName = "oom";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = OomResult;
    visit("step", &T::step);
    visit("device", &T::device);
    visit("requested_bytes", &T::requested_bytes);
    visit("segment_bytes", &T::segment_bytes);
    visit("category", &T::category);
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("message", &T::message);
    visit("injected", &T::injected);
    visit("policy", &T::policy);
    visit("alive_by_category", &T::alive_by_category, kKeyedBy<Category>);
    visit("holders", &T::holders);
    visit("other_holders", &T::other_holders);
    visit("library", &T::library, Presence::optional,
          "The library's line behind it, where several share it.");
    visit("module", &T::module, Presence::optional, "Path of the module that was running.");
    visit("reserved_bytes", &T::reserved_bytes, Presence::optional, "Reserved by the allocator.");
    visit("rounding_bytes", &T::rounding_bytes, Presence::optional,
          "Bytes of blocks beyond what was requested.");
    visit("private_pool_bytes", &T::private_pool_bytes, Presence::optional,
          "Free in private pools of CUDA graphs.");
    visit("outside_bytes", &T::outside_bytes, Presence::optional,
          "Bytes of this process outside PyTorch's allocator: context, NCCL, other libraries.");
    visit("other_process_bytes", &T::other_process_bytes, Presence::optional);
    visit("free_bytes", &T::free_bytes, Presence::optional, "Free on the card.");
    visit("expandable_segments", &T::expandable_segments, Presence::optional);
  }
};

inline constexpr std::size_t kMaxHolders = 8;

/// Memory that the script could still reach when it ran out of it, or else at the peak.
struct RetainedResult {
  std::string variable;  ///< the script's name for where the path begins: "total"
  std::string function;  ///< whose local it is, or "upvalue", "global"
  int line = 0;          ///< at which that function stood; 0: none
  /// That it holds as a value, or that its graphs lead to and no variable holds. Each block counts
  /// for one variable.
  std::int64_t bytes = 0;
  std::int64_t own_bytes = 0;  ///< of these: reached from nothing else; goes when it goes
  std::int64_t blocks = 0;     ///< that `bytes` are of
  /// From the variable to the largest of what it keeps: "total", "grad_fn AddBackward", ….
  std::vector<std::string> path;
  // Of a Python program:
  std::string file = {};         ///< of the line
  std::int64_t graph_bytes = 0;  ///< of `bytes`: saved by graphs
  std::int64_t tensors = 0;      ///< that it holds itself
  std::int64_t scalars = 0;      ///< of these
  /// "list", "dictionary", "cache", "tensor", "module", "optimizer", "exception", "concatenation",
  /// "buffer"; "state": carried from step to step, "result": replaced by the next; "models": beside
  /// the trained one; "linked", "cycle": objects; "filling", "unrolled", "updated": meant to stay
  std::string kind = {};
  bool is_in_model = false;        ///< a local variable of a model's call that was running
  bool is_concatenated = false;    ///< the program replaces it by itself and more (torch.cat)
  bool is_differentiated = false;  ///< the program calls backward() of it

  static constexpr const char* kSchemaName = "retained";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = RetainedResult;
    visit("variable", &T::variable);
    visit("function", &T::function);
    visit("line", &T::line);
    visit("bytes", &T::bytes);
    visit("own_bytes", &T::own_bytes, "Reached from no other variable.");
    visit("blocks", &T::blocks);
    visit("path", &T::path);
    visit("file", &T::file, Presence::optional);
    visit("graph_bytes", &T::graph_bytes, Presence::optional, "Part of bytes that graphs saved.");
    visit("tensors", &T::tensors, Presence::optional, "Number of tensors that it holds itself.");
    visit("scalars", &T::scalars, Presence::optional, "Number of these that are scalars.");
    visit("kind", &T::kind, Presence::optional);
    visit("is_in_model", &T::is_in_model, Presence::optional,
          "A local variable of a model's call that was running.");
    visit("is_concatenated", &T::is_concatenated, Presence::optional,
          "The program replaces it by itself and more (torch.cat).");
    visit("is_differentiated", &T::is_differentiated, Presence::optional,
          "The program calls backward() of it.");
  }
};

/// The call of a model that was running when memory ran out.
struct ModelCallResult {
  std::string file;  ///< of the program's line that made it
  int line = 0;
  std::string function;
  bool is_training = true;    ///< the model's mode
  bool has_gradients = true;  ///< graphs are built
  bool trains = true;         ///< a function on the stack names a backward pass

  static constexpr const char* kSchemaName = "model_call";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ModelCallResult;
    visit("file", &T::file);
    visit("line", &T::line);
    visit("function", &T::function);
    visit("is_training", &T::is_training);
    visit("has_gradients", &T::has_gradients);
    visit("trains", &T::trains);
  }
};

struct RetentionResult {
  std::string device;            ///< that the bytes are of
  std::int64_t bytes = 0;        ///< allocated there at that moment
  std::int64_t other_bytes = 0;  ///< reached from no variable: temporaries of what was running
  std::vector<RetainedResult> entries;  ///< largest first
  bool is_at_end = false;               ///< of the program
  /// After so many calls of optimizer.step(), where more was kept than at the end. 0: at another
  /// moment, the OOM error or else the peak.
  std::int64_t step_calls = 0;
  std::optional<ModelCallResult> call = {};  ///< when memory ran out

  static constexpr const char* kSchemaName = "retention";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = RetentionResult;
    visit("device", &T::device);
    visit("bytes", &T::bytes);
    visit("other_bytes", &T::other_bytes, "Reached from no variable.");
    visit("entries", &T::entries);
    visit("is_at_end", &T::is_at_end, Presence::optional);
    visit("step_calls", &T::step_calls, Presence::optional,
          "Taken after so many calls of optimizer.step(): more was kept then than at the end.");
    visit("call", &T::call, Presence::optional,
          "The call of a model that was running when memory ran out.");
  }
};

}  // namespace ohm
