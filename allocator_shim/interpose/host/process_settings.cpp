#include "allocator_shim/interpose/host/process_settings.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "allocator_shim/interpose/host/host_settings.h"

namespace ohm::interpose::host {

namespace {

constexpr int kUsageStatus = 2;
constexpr std::string_view kPreloadVariable = "LD_PRELOAD";

[[noreturn]] void refuse(std::string_view name, std::string_view value) {
  for (const std::string_view part : {std::string_view("ohm: "), name, std::string_view("="), value,
                                      std::string_view(" makes no sense\n")}) {
    syscall(SYS_write, STDERR_FILENO, part.data(), part.size());
  }
  syscall(SYS_exit_group, kUsageStatus);
  __builtin_unreachable();
}

/// Of "NAME=value" the value; nullptr where `entry` is another variable.
const char* value_of(const char* entry, std::string_view name) {
  if (!std::string_view(entry).starts_with(name) || entry[name.size()] != '=') return nullptr;
  return entry + name.size() + 1;
}

const char* variable(char** environment, std::string_view name) {
  for (char** entry = environment; *entry != nullptr; ++entry) {
    const char* const value = value_of(*entry, name);
    if (value != nullptr && *value != '\0') return value;
  }
  return nullptr;
}

void remove_variable(char** environment, std::string_view name) {
  char** kept = environment;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (value_of(*entry, name) == nullptr) *kept++ = *entry;
  }
  *kept = nullptr;
}

}  // namespace

ProcessSettings read_settings(char** environment) {
  ProcessSettings settings;
  settings.record_folder = variable(environment, kRecordVariable);
  settings.sweep_folder = variable(environment, kSweepVariable);
  if (const char* const plan = variable(environment, kFaultVariable)) {
    if (!parse_host_fault(plan, settings.fault)) refuse(kFaultVariable, plan);
  }
  if (const char* const limit = variable(environment, kLimitVariable)) {
    const char* const end = limit + std::strlen(limit);
    const auto read = std::from_chars(limit, end, settings.limit_bytes);
    if (read.ec != std::errc() || read.ptr != end) refuse(kLimitVariable, limit);
  }
  return settings;
}

void hide_sweep(char** environment) {
  remove_variable(environment, kSweepVariable);
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (value_of(*entry, kPreloadVariable) == nullptr) continue;
    char* const value = *entry + kPreloadVariable.size() + 1;
    const char* const others = std::strchr(value, ':');
    if (others == nullptr) return remove_variable(environment, kPreloadVariable);
    // This library is the first of them.
    std::memmove(value, others + 1, std::strlen(others));
    return;
  }
}

}  // namespace ohm::interpose::host
