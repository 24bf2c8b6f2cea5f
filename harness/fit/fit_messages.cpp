#include "harness/fit/fit_messages.h"

#include "harness/process/ipc_serialization.h"
#include "reports/model/fields.h"

namespace ohm::engine {

std::string encoded(const FitAnswer& answer) {
  MessageWriter writer;
  writer(answer.row, answer.forecast.encoded(), answer.name, answer.summary);
  return writer.take();
}

FitAnswer decoded_fit_answer(std::string_view bytes) {
  FitAnswer answer;
  std::string forecast;
  MessageReader reader(bytes);
  reader(answer.row, forecast, answer.name, answer.summary);
  answer.forecast = RequestForecast::decoded(forecast);
  return answer;
}

}  // namespace ohm::engine
