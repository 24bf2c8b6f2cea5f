#include "reports/json/verification_json.h"

#include "reports/text/json_text.h"
#include "reports/text/json_writer.h"

namespace ohm::reports {

using Json = nlohmann::json;

Json verification_object(const VerificationResult& result) {
  // Its fields are integers and texts.
  const JsonWriter writer(JsonText::printable, [](double value) { return Json(value); });
  Json json = writer.object(result);
  json["schema"] = kVerificationSchema;
  return json;
}

std::string verification_json(const VerificationResult& result) {
  return json_document(verification_object(result));
}

}  // namespace ohm::reports
