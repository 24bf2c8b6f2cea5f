#include "allocator_shim/caching/trace_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <stdexcept>

namespace ohm {
namespace {

using OperationKind = TraceOperation::Kind;

class LineReader {
 public:
  LineReader(std::string_view line, std::size_t number) : rest_(line), number_(number) {}

  [[noreturn]] void refuse(std::string_view why) const {
    throw std::invalid_argument(fmt::format("line {}: {}", number_, why));
  }

  std::string_view take_word() {
    const std::size_t begin = std::min(rest_.find_first_not_of(' '), rest_.size());
    const std::size_t end = std::min(rest_.find(' ', begin), rest_.size());
    const std::string_view word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return word;
  }

  template <typename Number>
  Number take_number(std::string_view what) {
    const std::string_view word = take_word();
    Number number = {};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) {
      refuse(fmt::format("expected {}, found \"{}\"", what, word));
    }
    return number;
  }

  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }

 private:
  std::string_view rest_;
  std::size_t number_;
};

void read_allocate(LineReader& line, TraceOperation& operation) {
  operation.id = line.take_number<std::uint64_t>("an id");
  operation.bytes = line.take_number<std::size_t>("a number of bytes");
  if (!line.at_end()) operation.stream = line.take_number<StreamId>("a stream");
}
void read_free(LineReader& line, TraceOperation& operation) {
  operation.id = line.take_number<std::uint64_t>("an id");
}
void read_record_stream(LineReader& line, TraceOperation& operation) {
  operation.id = line.take_number<std::uint64_t>("an id");
  operation.stream = line.take_number<StreamId>("a stream");
}
void read_fraction(LineReader& line, TraceOperation& operation) {
  operation.fraction = line.take_number<double>("a fraction");
  if (!(operation.fraction >= 0 && operation.fraction <= 1)) {
    line.refuse("a fraction is between 0 and 1");
  }
}
void read_nothing(LineReader&, TraceOperation&) {}

struct OperationRow {
  std::string_view letter;
  OperationKind kind;
  void (*read)(LineReader&, TraceOperation&);
};
constexpr std::array<OperationRow, 9> kOperations = {
    {{"a", OperationKind::allocate, read_allocate},
     {"f", OperationKind::free, read_free},
     {"e", OperationKind::empty_cache, read_nothing},
     {"r", OperationKind::reset_peak, read_nothing},
     {"R", OperationKind::reset_accumulated, read_nothing},
     {"x", OperationKind::set_fraction, read_fraction},
     {"u", OperationKind::record_stream, read_record_stream},
     {"g", OperationKind::complete_events, read_nothing},
     {"d", OperationKind::print_stats, read_nothing}}};

void read_header(std::string_view text, std::size_t number, Trace& trace) {
  trace.headers.emplace_back(text);
  LineReader line(text, number);
  line.take_word();  // the #
  const std::string_view key = line.take_word();
  if (key == "conf") {
    trace.settings =
        line.rest().substr(std::min(line.rest().find_first_not_of(' '), line.rest().size()));
  } else if (key == "capacity") {
    trace.capacity_bytes = line.take_number<std::size_t>("a number of bytes");
  } else if (key == "va" && line.take_word() == "firstfit") {
    trace.address_order = AddressOrder::lowest_gap;
  }
}

TraceOperation read_operation(std::string_view text, std::size_t number) {
  LineReader line(text, number);
  const std::string_view letter = line.take_word();
  for (const OperationRow& row : kOperations) {
    if (row.letter != letter) continue;
    TraceOperation operation;
    operation.kind = row.kind;
    operation.line = number;
    row.read(line, operation);
    if (!line.at_end()) line.refuse(fmt::format("nothing may follow: \"{}\"", line.rest()));
    return operation;
  }
  line.refuse(fmt::format("unknown operation \"{}\"", letter));
}

}  // namespace

Trace parse_trace(std::string_view text) {
  Trace trace;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) {
      read_header(line, number, trace);
    } else if (!line.empty()) {
      trace.operations.push_back(read_operation(line, number));
    }
  }
  if (trace.capacity_bytes == 0) {
    throw std::invalid_argument("line 1: a trace says what it ran on: # capacity BYTES");
  }
  return trace;
}

}  // namespace ohm
