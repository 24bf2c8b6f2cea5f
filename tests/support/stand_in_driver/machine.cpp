#include "tests/support/stand_in_driver/machine.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "allocator_shim/device/cuda/driver.h"
#include "tests/support/stand_in_driver/stand_in_driver.h"

namespace ohm::stand_in {
namespace {

std::unique_ptr<Machine>& installed() {
  static std::unique_ptr<Machine> instance;
  return instance;
}

/// "1,0" of CUDA_VISIBLE_DEVICES.
std::vector<int> visible_devices() {
  const char* const variable =
      std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
  std::vector<int> visible;
  std::istringstream numbers(variable == nullptr ? "" : variable);
  for (std::string number; std::getline(numbers, number, ',');) {
    visible.push_back(std::stoi(number));
  }
  return visible;
}

Failure failure_of(const std::string& text) {
  std::istringstream words(text);
  Failure failure;
  std::string number;
  std::getline(words, failure.symbol, ':');
  std::getline(words, number, ':');
  failure.successes = std::stoi(number);
  std::getline(words, number, ':');
  failure.code = std::stoi(number);
  return failure;
}

/// "rows:2500:/tmp/kept".
CompiledImage compiled_of(const std::string& text) {
  std::istringstream words(text);
  CompiledImage image;
  std::string milliseconds;
  std::getline(words, image.source, ':');
  std::getline(words, milliseconds, ':');
  std::getline(words, image.kept);
  image.time = std::chrono::milliseconds(std::stoi(milliseconds));
  return image;
}

/// The end of the segment, or of the mapped chunks in a row, that `address` is in; 0: none.
unsigned long long end_of_memory(const CudaDevice& card, unsigned long long address) {
  const auto segment = card.segments.upper_bound(address);
  if (segment != card.segments.begin()) {
    const auto& [begin, size] = *std::prev(segment);
    if (address < begin + size) return begin + size;
  }
  auto chunk = card.mapped.upper_bound(address);
  if (chunk == card.mapped.begin()) return 0;
  unsigned long long end = std::prev(chunk)->first + std::prev(chunk)->second;
  for (; chunk != card.mapped.end() && chunk->first == end; ++chunk) end += chunk->second;
  return address < end ? end : 0;
}

}  // namespace

CudaDevice::CudaDevice(int card_index)
    : memory(std::make_shared<SharedGpuMemory>(machine().capacity_bytes)), index(card_index) {}

Machine::Machine(const std::string& words) {
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (key == "fail") failures.push_back(failure_of(value));
    if (key == "devices") devices = std::stoi(value);
    // As Slurm says which cards a task has.
    if (key == "visible" && value == "environment") visible = visible_devices();
    if (key == "others") others = static_cast<unsigned>(std::stoul(value));
    if (key == "strict") is_strict = value == "1";
    if (key == "wrong") wrong_result = value;
    if (key == "cudnn_version") cudnn_version = std::stoull(value);
    if (key == "cudnn_workspace") cudnn_workspace_bytes = std::stoull(value);
    if (key == "capability") capability = std::stoi(value);
    if (key == "compiles") compiled = compiled_of(value);
    if (key == "version") version = std::stoi(value);
    if (key == "capacity") capacity_bytes = std::stoull(value);
    if (key == "reserved") reserved_bytes = std::stoull(value);
    if (key == "cudnn_random") is_cudnn_random = value == "1";
    if (key == "context") context_bytes = std::stoull(value);
  }
  if (!visible.empty()) devices = static_cast<int>(visible.size());
}

std::string Machine::name_of(int device) const {
  const int ordinal = visible.empty() ? device : visible[static_cast<std::size_t>(device)];
  return "Stand-in " + std::to_string(ordinal);
}

int Machine::wrong(const std::string& what, int code) {
  misuse += what + "\n";
  if (is_strict) {
    std::fprintf(stderr, "the driver was misused: %s\n", what.c_str());
    std::abort();
  }
  return code;
}

int Machine::begin(const char* symbol, bool needs_context) {
  const int before = calls[symbol]++;
  is_wrong_call = wrong_result == symbol;
  if (broken != 0) return broken;
  for (const Failure& failure : failures) {
    if (failure.symbol != symbol || failure.successes != before) continue;
    if (cuda::is_sticky(failure.code)) broken = failure.code;
    return failure.code;
  }
  if (needs_context && current == nullptr) {
    return wrong(std::string(symbol) + " without a context", kInvalidContext);
  }
  return 0;
}

unsigned long long Machine::held() const {
  unsigned long long bytes = 0;
  for (const CudaDevice& card : cards) {
    for (const auto& [address, size] : card.segments) bytes += size;
    for (const auto& [address, size] : card.ranges) bytes += size;
    for (const auto& [address, size] : card.mapped) bytes += size;
  }
  for (const auto& [handle, size] : chunks) bytes += size;
  bytes += objects.size();
  return bytes + host_blocks.size() + streams.size() + events.size() + modules.size();
}

void* memory_at(const CudaDevice& card, unsigned long long address, std::size_t bytes) {
  if (address + bytes <= end_of_memory(card, address)) return card.context->host_pointer(address);
  machine().wrong("an access outside what was allocated");
  return nullptr;
}

Machine& machine() {
  if (!installed()) {
    const char* words = std::getenv("OHM_STAND_IN");  // NOLINT(concurrency-mt-unsafe)
    installed() = std::make_unique<Machine>(words == nullptr ? "" : words);
  }
  return *installed();
}

extern "C" {
__attribute__((visibility("default"))) void stand_in_reset(const char* words) {
  installed() = std::make_unique<Machine>(words);
}
__attribute__((visibility("default"))) const char* stand_in_misuse() {
  return machine().misuse.c_str();
}
__attribute__((visibility("default"))) unsigned long long stand_in_held_bytes() {
  return machine().held();
}
__attribute__((visibility("default"))) unsigned long long stand_in_workspace() {
  return machine().library_workspace;
}
__attribute__((visibility("default"))) int stand_in_calls(const char* symbol) {
  return machine().calls[symbol];
}
}

}  // namespace ohm::stand_in
