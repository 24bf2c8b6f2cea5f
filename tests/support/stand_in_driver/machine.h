// The machine behind the stand-in driver: virtual cards, and what the program holds of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocator_shim/device/virtual_gpu.h"

namespace ohm::stand_in {

constexpr int kInvalidValue = 1;
constexpr int kNotInitialized = 3;
constexpr int kInvalidContext = 201;
constexpr int kInvalidHandle = 400;
constexpr int kIllegalAddress = 700;

struct CudaDevice {
  explicit CudaDevice(int index);

  std::shared_ptr<SharedGpuMemory> memory;
  std::unique_ptr<VirtualGpu> context;  ///< of this process; null: none
  int index;
  int context_uses = 0;
  std::map<unsigned long long, std::size_t> segments;
  std::map<unsigned long long, std::size_t> ranges;
  std::map<unsigned long long, std::size_t> mapped;
};

/// A stream's event: recorded on a stream or not yet.
struct Event {
  const void* stream = nullptr;
  bool is_recorded = false;
};

/// Kernels that the driver compiles when they are loaded, and keeps.
struct CompiledImage {
  std::string source;                 ///< empty: there are none
  std::chrono::milliseconds time{0};  ///< that it takes
  std::string kept;                   ///< the file that says that it was done
};

struct Failure {
  std::string symbol;
  int successes = 0;  ///< before it
  int code = 0;
};

struct Machine {
  explicit Machine(const std::string& words);

  /// Starts a call: the error it has to answer with at once, or 0.
  int begin(const char* symbol, bool needs_context = true);
  /// Notes the mistake; what the call answers.
  int wrong(const std::string& what, int code = kInvalidValue);
  /// The current context's. Only after begin() that needs one.
  CudaDevice& card() { return *current; }
  unsigned long long held() const;
  std::string name_of(int device) const;

  /// Something that a library makes, until it is dropped.
  template <class T>
  T* make() {
    const auto made = std::make_shared<T>();
    objects.emplace(made.get(), made);
    return made.get();
  }
  /// Notes a mistake where there is no such thing; what the call answers.
  int drop(void* object) {
    return objects.erase(object) == 1 ? 0 : wrong("a library was given back what it has not");
  }

  int devices = 1;
  std::vector<int> visible;  ///< of the cards there are, by ordinal; empty: all
  unsigned others = 0;       ///< processes on the cards that NVML lists besides
  int version = 13000;
  int capability = 80;  ///< of every card
  CompiledImage compiled;
  std::size_t capacity_bytes = std::size_t{64} << 20U;
  std::size_t context_bytes = std::size_t{4} << 20U;
  std::size_t reserved_bytes = 0;  ///< that the driver keeps for itself
  bool is_cudnn_random = false;    ///< the fastest convolution is not deterministic
  bool is_strict = false;          ///< misuse ends the process
  std::string wrong_result;        ///< of this kernel or function of a library: something else
  bool is_wrong_call = false;      ///< the function that began last is that one
  std::vector<Failure> failures;

  bool is_initialized = false;
  int broken = 0;  ///< by a sticky error: what everything answers from then on
  std::deque<CudaDevice> cards;
  CudaDevice* current = nullptr;
  std::map<unsigned long long, std::size_t> chunks;  ///< created, by handle
  unsigned long long next_chunk = 1;
  std::map<void*, std::unique_ptr<char[]>> host_blocks;
  std::set<void*> streams;
  std::map<void*, Event> events;
  std::map<void*, std::unique_ptr<char>> modules;  ///< a broken card keeps them to its end
  std::map<void*, std::shared_ptr<void>> objects;  ///< of the libraries: handles, descriptions
  unsigned long long library_workspace = 0;        ///< that a library was given last
  std::size_t cudnn_version = 90100;
  std::size_t cudnn_workspace_bytes = 0;  ///< that every algorithm of cuDNN needs
  std::map<std::string, int> calls;
  std::string misuse;
};

/// nullptr, and a note, where [address, address + bytes) is not memory of the card.
void* memory_at(const CudaDevice& card, unsigned long long address, std::size_t bytes);

/// The only one. Before the first reset it is as OHM_STAND_IN says.
Machine& machine();

}  // namespace ohm::stand_in
