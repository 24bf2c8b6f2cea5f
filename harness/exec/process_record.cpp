#include "harness/exec/process_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "harness/exec/cuda_process.h"
#include "harness/exec/cuda_record.h"
#include "harness/exec/python_protocol.h"
#include "harness/exec/unwritten_records.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using nlohmann::json;

RecordedDevice device_of(const json& row) {
  RecordedDevice device;
  device.name = row.at("name");
  device.capacity_bytes = row.at("capacity_bytes");
  device.peak_allocated_bytes = row.at("peak_allocated_bytes");
  device.peak_reserved_bytes = row.at("peak_reserved_bytes");
  device.allocated_at_end_bytes = row.at("allocated_at_end_bytes");
  device.num_ooms = row.at("num_ooms");
  device.num_alloc_retries = row.at("num_alloc_retries");
  device.num_device_alloc = row.at("num_device_alloc");
  device.modelled = row.at("modelled").get<std::vector<std::string>>();
  return device;
}

int number_in(std::string_view text, int otherwise) {
  int number = 0;
  const char* const end = text.data() + text.size();
  return std::from_chars(text.data(), end, number).ptr == end && !text.empty() ? number : otherwise;
}

void take_error(const json& error, ProcessRecord& record) {
  if (error.is_null()) return;
  ErrorResult& result = record.error.emplace();
  result.message = fmt::format("{}: {}", error.at("type").get<std::string>(),
                               error.at("message").get<std::string>());
  result.file = error.at("file");
  result.line = error.at("line");
  record.is_out_of_memory = error.at("out_of_memory");
}

UnknownValueResult unknown_value_of(const json& row) {
  const std::string kind = row.at("kind");
  const auto* const name = std::find(kUnknownUseNames.begin(), kUnknownUseNames.end(), kind);
  UnknownValueResult read;
  // A kind of a newer recorder is a value all the same.
  read.kind = name == kUnknownUseNames.end()
                  ? UnknownUse::value
                  : static_cast<UnknownUse>(name - kUnknownUseNames.begin());
  read.file = row.at("file");
  read.line = row.at("line");
  read.detail = row.at("detail");
  read.count = row.at("count");
  read.order = row.at("order");
  return read;
}

RetainedResult retained_of(const json& row) {
  RetainedResult entry;
  entry.variable = row.at("variable");
  entry.function = row.at("function");
  entry.file = row.at("file");
  entry.line = row.at("line");
  entry.bytes = row.at("bytes");
  entry.graph_bytes = row.at("graph_bytes");
  entry.blocks = row.at("blocks");
  entry.tensors = row.at("tensors");
  entry.scalars = row.at("scalars");
  entry.kind = row.at("kind");
  entry.is_in_model = row.at("is_in_model");
  entry.is_concatenated = row.at("is_concatenated");
  entry.is_differentiated = row.at("is_differentiated");
  entry.path = row.at("path").get<std::vector<std::string>>();
  return entry;
}

void take_held(const json& held, ProcessRecord& record) {
  if (held.is_null() || held.at("holders").empty()) return;
  RetentionResult& retention = record.retention.emplace();
  retention.device = fmt::format("cuda:{}", held.at("device").get<int>());
  retention.bytes = held.at("bytes");
  retention.is_at_end = held.at("moment") == "end";
  retention.step_calls = held.value("step_calls", retention.step_calls);
  for (const json& row : held.at("holders")) retention.entries.push_back(retained_of(row));
  const json& call = held.at("call");
  if (call.is_null()) return;
  ModelCallResult& running = retention.call.emplace();
  running.file = call.at("file");
  running.line = call.at("line");
  running.function = call.at("function");
  running.is_training = call.at("training");
  running.has_gradients = call.at("gradients");
  running.trains = call.at("trains");
}

void take_summary(const json& summary, ProcessRecord& record) {
  record.pid = summary.at("pid");
  record.rank = number_in(summary.at("rank").get<std::string>(), -1);
  record.arguments = summary.at("arguments").get<std::vector<std::string>>();
  record.folder = summary.at("folder");
  record.user_folders = summary.value("user_folders", record.user_folders);
  record.torch_version = summary.at("torch");
  record.has_ended = summary.at("ended");
  record.most_events = summary.at("most_events");
  record.problems = summary.at("problems").get<std::vector<std::string>>();
  for (const json& row : summary.at("devices")) record.devices.push_back(device_of(row));
  take_error(summary.at("error"), record);
  for (const json& row : summary.value("unknown_values", json::array())) {
    record.unknown_values.push_back(unknown_value_of(row));
  }
  if (summary.contains("held")) take_held(summary.at("held"), record);
  record.not_computed = summary.value("not_computed", record.not_computed);
}

ProcessRecord read_record(const std::filesystem::path& summary) {
  ProcessRecord record;
  // PID.json, and PID-2.json of the program that it became.
  const std::string stem = summary.stem();
  const std::size_t dash = stem.find('-');
  record.pid = number_in(stem.substr(0, dash), 0);
  if (dash != std::string::npos) record.ordinal = number_in(stem.substr(dash + 1), 1);
  try {
    std::ifstream stream(summary, std::ios::binary);
    const json message = reports::parse_json(stream);
    python::check_message("record", message);
    take_summary(message, record);
  } catch (const python::ProtocolError& error) {
    record.problems.push_back(fmt::format("{}: {}", summary.string(), error.what()));
  } catch (const json::exception& error) {
    record.problems.push_back(fmt::format("{}: {}", summary.string(), error.what()));
  }
  std::filesystem::path snapshot = summary;
  snapshot.replace_extension(".pickle");
  if (std::filesystem::exists(snapshot)) record.snapshot = snapshot;
  return record;
}

/// Of a program without PyTorch.
ProcessRecord native_record(const std::string& path) {
  CudaProcess process = cuda_process(path);
  ProcessRecord record;
  record.is_native = true;
  record.pid = process.record.pid;
  record.arguments = process.record.arguments;
  record.folder = process.record.folder;
  record.has_ended = process.record.has_ended;
  record.most_events = process.record.most_events;
  record.findings = std::move(process.findings);
  record.snapshot = process.snapshot;
  if (!process.problem.empty()) record.problems.push_back(process.problem);
  for (const CudaDevice& device : process.record.devices) {
    RecordedDevice& recorded = record.devices.emplace_back();
    recorded.capacity_bytes = device.capacity_bytes;
    recorded.peak_allocated_bytes = device.peak_allocated_bytes;
    recorded.peak_reserved_bytes = device.peak_reserved_bytes;
    recorded.allocated_at_end_bytes = device.allocated_bytes;
    recorded.num_ooms = device.ooms;
    recorded.num_device_alloc = device.segments;
  }
  return record;
}

/// What the program would be called by: its script, or the module that -m named.
std::string program_name(const ProcessRecord& record) {
  if (record.is_native) {
    const std::string name =
        record.arguments.empty() ? "" : std::filesystem::path(record.arguments.front()).filename();
    return name.empty() ? "process" : name;
  }
  if (record.arguments.empty()) return "python";
  const std::filesystem::path script = record.arguments.front();
  const std::string stem = script.stem();
  // python -m pytest is .../pytest/__main__.py.
  if (stem == "__main__") return script.parent_path().filename();
  return stem.empty() || stem == "-c" || stem == "-" ? "python" : stem;
}

/// "1234-2".
std::string stem_of(const ProcessRecord& record) {
  if (record.is_native) return cuda_record_stem(record.pid);
  return record.ordinal == 1 ? fmt::format("{}", record.pid)
                             : fmt::format("{}-{}", record.pid, record.ordinal);
}

/// Those that could not be written say why; some have left nothing else.
void add_unwritten(const std::string& folder, std::vector<ProcessRecord>& records) {
  std::map<std::string, std::string> unwritten = unwritten_records(folder);
  const auto note = [](ProcessRecord& record, const std::string& why) {
    record.is_unwritten = true;
    record.problems.push_back(
        fmt::format("the record of process {} cannot be written: {}", record.pid, why));
    record.snapshot.clear();
  };
  for (ProcessRecord& record : records) {
    const auto known = unwritten.find(stem_of(record));
    if (known == unwritten.end()) continue;
    note(record, known->second);
    unwritten.erase(known);
  }
  for (const auto& [stem, why] : unwritten) {
    ProcessRecord& record = records.emplace_back();
    const int native = cuda_process_of(stem);
    record.is_native = native != 0;
    record.pid = record.is_native ? native : number_in(stem.substr(0, stem.find('-')), 0);
    note(record, why);
  }
}

}  // namespace

std::vector<ProcessRecord> read_process_records(const std::string& folder) {
  std::vector<ProcessRecord> records;
  std::error_code gone;  // the command may remove what it finds
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    if (entry.path().extension() != ".json") continue;
    const bool is_native = cuda_process_of(entry.path().stem()) != 0;
    records.push_back(is_native ? native_record(entry.path()) : read_record(entry.path()));
  }
  add_unwritten(folder, records);
  std::sort(records.begin(), records.end(), [](const ProcessRecord& a, const ProcessRecord& b) {
    return std::tie(a.rank, a.pid, a.ordinal) < std::tie(b.rank, b.pid, b.ordinal);
  });
  return records;
}

std::vector<std::string> process_names(const std::vector<ProcessRecord>& records) {
  std::vector<std::string> names;
  for (const ProcessRecord& record : records) {
    const std::string name = program_name(record);
    names.push_back(record.rank < 0 ? name : fmt::format("{} (rank {})", name, record.rank));
  }
  tell_apart(names);
  return names;
}

void tell_apart(std::vector<std::string>& names) {
  std::map<std::string, int> counts;
  for (const std::string& name : names) ++counts[name];
  std::map<std::string, int> ordinals;
  for (std::string& name : names) {
    if (counts[name] > 1) name = fmt::format("{} (process {})", name, ++ordinals[name]);
  }
}

}  // namespace ohm::engine
