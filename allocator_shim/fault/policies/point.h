// point(ohm:3f9c@2): the second time that one unique point is passed; without @, every time.
#pragma once

#include "allocator_shim/fault/fault_point.h"
#include "allocator_shim/fault/fault_policy.h"

namespace ohm::fault_policies_detail {

class Point final : public FaultPolicy {
 public:
  explicit Point(FaultPoint point) : point_(point) {}
  bool concerns(const FaultCandidate& candidate) const override {
    return point_.is_of(candidate.point);
  }
  bool holds(const FaultCandidate& candidate) const override {
    return point_.occurrence == 0 || candidate.ordinal == point_.occurrence;
  }
  std::optional<std::uint64_t> fault_limit() const override { return 1; }
  bool wants_points() const override { return true; }

  static std::unique_ptr<FaultPolicy> make(PolicyArguments& arguments) {
    const std::string_view text = arguments.take_text("a point");
    const std::optional<FaultPoint> point = parse_fault_point(text);
    if (!point) arguments.refuse("a point reads ohm:3f9c@1, as reports print it");
    return std::make_unique<Point>(*point);
  }

 private:
  FaultPoint point_;
};

inline constexpr FaultPolicyRow kPoint = {
    "point",
    "point(ohm:3f9c@1)",
    "one point of a sweep, the k-th time it is passed; also written ohm:3f9c@1",
    FaultPolicy::Kind::schedule,
    Point::make,
    FaultPolicyRow::Names::both};

}  // namespace ohm::fault_policies_detail
