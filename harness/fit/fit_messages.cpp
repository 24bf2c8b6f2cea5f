#include "harness/fit/fit_messages.h"

#include "harness/process/ipc_serialization.h"
#include "reports/model/fields.h"

namespace ohm::engine {

std::string encoded(const FitAnswer& answer) {
  MessageWriter writer;
  writer(answer.row, answer.forecast.encoded());
  return writer.take();
}

FitAnswer decoded_fit_answer(std::string_view bytes) {
  FitAnswer answer;
  std::string forecast;
  MessageReader reader(bytes);
  reader(answer.row, forecast);
  answer.forecast = RequestForecast::decoded(forecast);
  return answer;
}

std::string encoded(const CommandRow& row) {
  MessageWriter writer;
  writer(row.row, row.name, row.summary);
  return writer.take();
}

CommandRow decoded_command_row(std::string_view bytes) {
  CommandRow row;
  MessageReader reader(bytes);
  reader(row.row, row.name, row.summary);
  return row;
}

}  // namespace ohm::engine
