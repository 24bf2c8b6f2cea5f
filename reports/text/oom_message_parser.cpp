#include "reports/text/oom_message_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/bytes.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

// ---- reading ------------------------------------------------------------------------------------

/// Terminals and logs break lines: every run of blanks is one.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

struct UnitName {
  std::string_view name;
  double bytes;
};

constexpr std::array<UnitName, 8> kUnits = {{{"bytes", 1},
                                             {"KiB", 0x1p10},
                                             {"MiB", 0x1p20},
                                             {"GiB", 0x1p30},
                                             {"TiB", 0x1p40},
                                             {"KB", 1e3},
                                             {"MB", 1e6},
                                             {"GB", 1e9}}};

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.'; }

constexpr std::string_view kTriedToAllocate = "Tried to allocate ";

/// Memory is counted in 64 bits: what is larger has been garbled.
constexpr double kMostBytes = 0x1p64;

/// "20.00 MiB" at the start of `text`.
std::optional<PrintedBytes> figure_at(std::string_view text) {
  double number = 0;
  const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(rest - text.data()));
  text.remove_prefix(digits.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const UnitName& known) {
    return text.starts_with(known.name);
  });
  if (unit == kUnits.end() || number * unit->bytes > kMostBytes) return std::nullopt;
  const std::size_t point = digits.find('.');
  const std::size_t decimals = point == std::string_view::npos ? 0 : digits.size() - point - 1;
  const double step = unit->bytes / std::pow(10.0, static_cast<double>(decimals));
  return PrintedBytes{number * unit->bytes, unit->bytes == 1 ? 0 : step / 2};
}

std::optional<PrintedBytes> figure_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  return figure_at(text.substr(at + words.size()));
}

/// Whether a number behind this text is a whole one: "21. 48 GiB" was broken by a terminal.
bool begins_number(std::string_view before) {
  if (before.empty() || before.back() == '(') return true;
  if (before.back() != ' ') return false;
  before.remove_suffix(1);
  if (before.ends_with('.')) before.remove_suffix(1);
  return before.empty() || !is_of_number(before.back());
}

/// The figure that ends right before the words: "5.92 GiB already allocated".
std::optional<PrintedBytes> figure_before(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t unit = text.rfind(' ', at == 0 ? 0 : at - 1);
  if (unit == std::string_view::npos || unit == 0) return std::nullopt;
  std::size_t start = unit;
  while (start > 0 && is_of_number(text[start - 1])) --start;
  return begins_number(text.substr(0, start)) ? figure_at(text.substr(start, at - start))
                                              : std::nullopt;
}

/// The number at the start of `text`, where one of these comes behind it: else it may go on.
std::optional<int> number_before(std::string_view text,
                                 std::initializer_list<std::string_view> ends) {
  int number = 0;
  const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  const bool has_end = std::any_of(ends.begin(), ends.end(),
                                   [&](std::string_view end) { return text.starts_with(end); });
  return has_end ? std::optional(number) : std::nullopt;
}

/// "(GPU 0; 10.92 GiB", "(NPU 1; 60.97 GiB", "GPU 0 has a total".
std::optional<int> gpu_of(std::string_view text) {
  constexpr std::array<std::string_view, 4> kNames = {"GPU ", "NPU ", "XPU ", "MLU "};
  for (const std::string_view name : kNames) {
    const std::size_t at = text.find(name);
    if (at != std::string_view::npos) {
      return number_before(text.substr(at + name.size()), {";", " has"});
    }
  }
  return std::nullopt;
}

/// The word before "out of memory", right in front of the request.
OomBackend backend_of(std::string_view before) {
  using Row = std::pair<std::string_view, OomBackend>;
  constexpr std::array<Row, 4> kBackends = {{{"CUDA", OomBackend::cuda},
                                             {"HIP", OomBackend::hip},
                                             {"XPU", OomBackend::xpu},
                                             {"NPU", OomBackend::npu}}};
  constexpr std::string_view kEnd = " out of memory. ";
  if (!before.ends_with(kEnd)) return OomBackend::cuda;
  before.remove_suffix(kEnd.size());
  for (const auto& [name, backend] : kBackends) {
    if (before.ends_with(name)) return backend;
  }
  return OomBackend::other;
}

OomWording wording_of(std::string_view line) {
  const auto has = [line](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  if (has("GiB cached)") || has("MiB cached)") || has("bytes cached)")) return OomWording::cached;
  if (!has("already allocated")) return OomWording::by_process;
  return has("max_split_size_mb") ? OomWording::with_hint : OomWording::in_total;
}

/// "PYTORCH_CUDA_ALLOC_CONF", as the message spells it.
std::string variable_in(std::string_view line) {
  constexpr std::string_view kEnd = "ALLOC_CONF";
  const std::size_t at = line.find("PYTORCH_");
  if (at == std::string_view::npos) return "";
  const std::size_t end = line.find(kEnd, at);
  if (end == std::string_view::npos || end - at > 24) return "";
  return std::string(line.substr(at, end + kEnd.size() - at));
}

void take_hints(std::string_view line, OomMessage& message) {
  const auto has = [line](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  message.wording = wording_of(line);
  message.variable = variable_in(line);
  message.recommends_expandable = has("expandable_segments:True");
  message.has_expandable_segments = has("expandable_segments is enabled");
}

/// "Process 4711 has 2.00 GiB memory in use.", as often as it is there.
std::vector<PrintedBytes> other_processes(std::string_view text) {
  constexpr std::string_view kProcess = "Process ";
  constexpr std::string_view kHas = " has ";
  std::vector<PrintedBytes> processes;
  for (std::size_t at = text.find(kProcess); at != std::string_view::npos;
       at = text.find(kProcess, at + 1)) {
    const std::string_view rest = text.substr(at + kProcess.size());
    const std::size_t has = rest.find(kHas);
    if (has == std::string_view::npos) continue;
    if (const auto figure = figure_at(rest.substr(has + kHas.size()))) processes.push_back(*figure);
  }
  return processes;
}

/// Whether there is no room on the card for a process of this size beside those that are named.
bool is_one_of_the_named(const OomMessage& message) {
  if (!message.capacity) return false;
  PrintedBytes all = *message.reserved;
  for (const PrintedBytes& process : message.other_processes) all = sum(all, process);
  return all.bytes - all.rounding > message.capacity->bytes + message.capacity->rounding;
}

/// In a container a process does not know the number that the driver has for it: it is one of those
/// that are named, the one that has what its allocator has reserved, and a context: with what
/// libraries hold, where the figures leave no other way.
void find_this_process(OomMessage& message) {
  if (message.this_process || !message.reserved) return;
  constexpr double kUsualContext = 1.5 * 0x1p30;
  const double most =
      is_one_of_the_named(message) ? std::numeric_limits<double>::infinity() : kUsualContext;
  const PrintedBytes reserved = *message.reserved;
  const auto context_in = [&](const PrintedBytes& process) {
    return process.bytes - reserved.bytes + process.rounding + reserved.rounding;
  };
  auto own = message.other_processes.end();
  for (auto one = message.other_processes.begin(); one != message.other_processes.end(); ++one) {
    const double context = context_in(*one);
    if (context < 0 || context > most) continue;
    if (own == message.other_processes.end() || context < context_in(*own)) own = one;
  }
  if (own == message.other_processes.end()) return;
  message.this_process = *own;
  message.other_processes.erase(own);
}

/// Of the backend cudaMallocAsync, whose pool belongs to CUDA: "Allocation on device 0 would exceed
/// allowed memory." What is reserved it does not say.
std::optional<OomMessage> message_of_async_backend(const std::string& line) {
  constexpr std::string_view kAllocation = "Allocation on device ";
  const std::size_t at = line.find(kAllocation);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view text = std::string_view(line).substr(at + kAllocation.size());
  if (text.find("would exceed allowed memory") == std::string_view::npos) return std::nullopt;
  // Columns stand under each other: "Requested               : 20.00 MiB".
  const auto figure = [&](std::string_view name) -> std::optional<PrintedBytes> {
    const std::size_t found = text.find(name);
    if (found == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(found + name.size());
    const std::size_t first = rest.find_first_not_of(" :");
    return first == std::string_view::npos ? std::nullopt : figure_at(rest.substr(first));
  };
  const std::optional<PrintedBytes> requested = figure("Requested");
  if (!requested) return std::nullopt;
  OomMessage message;
  message.gpu = number_before(text, {" would"});
  message.requested = *requested;
  message.allocated = figure("Currently allocated");
  message.capacity = figure("Device limit");
  message.free = figure("Free (according to CUDA)");
  const std::optional<PrintedBytes> limit =
      figure("PyTorch limit (set by user-supplied memory fraction)");
  // Without a fraction it is more than there is.
  if (limit && message.capacity && limit->bytes < message.capacity->bytes) message.allowed = limit;
  message.is_cut = !limit || !message.capacity;
  return message;
}

/// From "Tried to allocate" up to the next message, of which a log may have several.
std::string first_message(const std::string& line) {
  const std::size_t at = line.find(kTriedToAllocate);
  if (at == std::string::npos) {
    const bool is_oom = line.find("out of memory") != std::string::npos ||
                        line.find("ALLOC_FAILED") != std::string::npos;
    throw std::invalid_argument(
        is_oom
            ? "this message has no figures (no \"Tried to allocate\"): the memory was refused "
              "outside PyTorch's allocator, to a context or a library; look at what nvidia-smi "
              "says is in use"
            : "this is not an out-of-memory message of PyTorch: there is no \"Tried to allocate\" "
              "in it");
  }
  return line.substr(at, line.find(kTriedToAllocate, at + 1) - at);
}

}  // namespace

PrintedBytes sum(const PrintedBytes& a, const PrintedBytes& b) {
  return {a.bytes + b.bytes, a.rounding + b.rounding};
}

OomMessage parse_oom_message(std::string_view text) {
  const std::string whole = on_one_line(text);
  if (std::optional<OomMessage> message = message_of_async_backend(whole)) return *message;
  const std::string line = first_message(whole);
  OomMessage message;
  const auto requested = figure_after(line, kTriedToAllocate);
  if (!requested) {
    throw std::invalid_argument(
        line.find("more than 1EB") != std::string::npos
            ? "the program requested more than an exabyte: a size that overflowed, or is negative; "
              "no card is to blame"
            : "\"Tried to allocate\" is not followed by a size, such as 20.00 MiB");
  }
  message.requested = *requested;
  message.gpu = gpu_of(line);
  message.backend = backend_of(std::string_view(whole).substr(0, whole.find(kTriedToAllocate)));
  take_hints(line, message);
  const auto first_of = [&](std::optional<PrintedBytes> a, std::optional<PrintedBytes> b) {
    return a ? a : b;
  };
  // PyTorch 2.1 spelled it "capacty".
  message.capacity = first_of(
      figure_before(line, " total capacity;"),
      first_of(figure_after(line, "total capacity of "), figure_after(line, "total capacty of ")));
  message.free = first_of(figure_before(line, " free;"), figure_before(line, " is free"));
  message.allocated = first_of(figure_before(line, " already allocated"),
                               figure_before(line, " is allocated by PyTorch"));
  message.allowed = figure_before(line, " allowed");
  message.this_process = figure_after(line, "this process has ");
  // It has a context: none is what a driver says that does not count by process (parts of a GPU).
  if (message.this_process && message.this_process->bytes == 0) message.this_process.reset();
  message.private_pools = figure_before(line, " allocated in private pools");
  message.other_processes = other_processes(line);
  message.reserved = figure_before(line, " reserved in total by PyTorch");
  // Up to PyTorch 1.3 "cached" was what is reserved and not handed out.
  const auto cache = first_of(figure_before(line, " is reserved by PyTorch but unallocated"),
                              figure_before(line, " cached"));
  if (cache && message.allocated) message.reserved = sum(*message.allocated, *cache);
  message.is_cut = !message.reserved;
  find_this_process(message);
  // Which of those that are named is this process, the rest would have told.
  if (message.is_cut && !message.this_process) message.other_processes.clear();
  if (!message.capacity && !message.allocated) {
    throw std::invalid_argument(
        "the message ends after \"Tried to allocate\": paste all of it, with the figures of "
        "the GPU");
  }
  return message;
}

std::optional<PrintedBytes> requested_bytes(std::string_view text) {
  return figure_after(on_one_line(text), kTriedToAllocate);
}

}  // namespace ohm::reports
