// The protocol between this program and the Python files that run in the user's process
// (harness/record): environment variables, which say what to do, and messages, which are files of
// JSON in a folder that one of the variables names. harness/record/ohm_protocol.py says the same
// for the other side; a test compares the two.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "allocator_shim/interpose/gpu_variable.h"

namespace ohm::engine::python {

/// One more with every change of what is below. Both sides come with one installation; where they
/// do not, they say so instead of taking each other's messages.
inline constexpr int kProtocolVersion = 2;

// ---- variables ----------------------------------------------------------------------------------

/// The version that this program speaks.
inline constexpr const char* kProtocolVariable = "OHM_PROTOCOL";
/// ohm exec: a folder for the messages "record" and the snapshots of processes.
inline constexpr const char* kRecordVariable = "OHM_RECORD";
/// "none", "known" or "cpu" (value_options.h), and what nonzero() and its like find.
inline constexpr const char* kValuesVariable = "OHM_VALUES";
inline constexpr const char* kAssumeSelectedVariable = "OHM_ASSUME_SELECTED";
/// Set: PyTorch keeps to one thread.
inline constexpr const char* kOneThreadVariable = "OHM_ONE_THREAD";
/// A fault plan: its requests are PyTorch's.
using interpose::kFaultVariable;
/// ohm sweep: a folder for its messages.
inline constexpr const char* kSweepVariable = "OHM_SWEEP";
/// ohm sweep --faults: a folder for its messages.
inline constexpr const char* kWatchVariable = "OHM_WATCH";
/// ohm record (job_recording.h): a snapshot, a folder for the names of others, the most events of a
/// device, and options.
inline constexpr const char* kRecordFileVariable = "OHM_RECORD_FILE";
inline constexpr const char* kRecordNamesVariable = "OHM_RECORD_NAMES";
inline constexpr const char* kRecordEventsVariable = "OHM_RECORD_EVENTS";
inline constexpr const char* kRecordStepsVariable = "OHM_RECORD_STEPS";
inline constexpr const char* kRecordAllStepsVariable = "OHM_RECORD_ALL_STEPS";
inline constexpr const char* kRecordNoStacksVariable = "OHM_RECORD_NO_STACKS";
inline constexpr const char* kRecordModulesVariable = "OHM_RECORD_MODULES";

inline constexpr std::array kVariables = {
    kProtocolVariable,       kRecordVariable,         kValuesVariable,
    kAssumeSelectedVariable, kOneThreadVariable,      kFaultVariable,
    kSweepVariable,          kWatchVariable,          kRecordFileVariable,
    kRecordNamesVariable,    kRecordEventsVariable,   kRecordStepsVariable,
    kRecordAllStepsVariable, kRecordNoStacksVariable, kRecordModulesVariable};

// ---- messages -----------------------------------------------------------------------------------

/// One a line: its name and its members. "?": it may be absent. ":NAME": it is null, such a
/// message, or a list of them. A message that is a file has the version as `protocol`, too.
inline constexpr std::string_view kMessages = R"(
job engine faults:fault copy_seconds level check scratch jobs
fault call persistent
process pid arguments torch
requests sizes places rows:place outcome:outcome seconds
place hash function file line stack
outcome error?:error calls? failures? printed_before? more_when_again? circling? ooms? left_bytes? peak_bytes? checked? check_error? not_computed?
error type message file line out_of_memory
ends ends:end
end fault status overdue
watch check places lose?:loss
loss kind rank step
ended pid rank restarts uses_cuda time own_mistake error?:error values? not_computed? check_error?
record pid arguments folder user_folders? rank torch ended most_events devices:device error:error held?:held unknown_values?:unknown_value not_computed? problems
device name capacity_bytes peak_allocated_bytes peak_reserved_bytes allocated_at_end_bytes num_ooms num_alloc_retries num_device_alloc modelled
held device moment bytes holders:holder call:call step_calls?
holder variable function file line bytes graph_bytes blocks tensors scalars kind is_in_model is_concatenated is_differentiated path
call file line function training gradients trains
unknown_value kind file line detail count order
)";

/// The message is of another version, or lacks a member.
class ProtocolError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The message as a file has it: with the version.
nlohmann::json message_of(nlohmann::json members);

/// Throws ProtocolError where an object from a file is no such message of this version.
void check_message(std::string_view name, const nlohmann::json& message);

}  // namespace ohm::engine::python
