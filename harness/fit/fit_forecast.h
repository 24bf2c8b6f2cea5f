// A forecast of the requests that a program makes at values that it was not run with.
//
// Over wide ranges of a parameter most programs ask for the same blocks in the same order, and each
// block is a line in the value. Two runs tell the lines; from then on any value can be tried on any
// GPU by giving the allocator the requests alone, which takes a fraction of the time of a run.
// This guides a search and answers nothing: what a program does, only a run tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/device/stream_events.h"
#include "allocator_shim/observe/event_record.h"

namespace ohm::engine {

/// What one run asked all GPUs for, in order.
struct RequestList {
  struct Request {
    std::int8_t device = 0;
    bool is_free = false;
    std::uint32_t block = 0;  ///< of the blocks in the order in which they were asked for
    StreamId stream = kDefaultStream;

    friend bool operator==(const Request&, const Request&) = default;
  };
  std::vector<Request> requests;
  std::vector<std::int64_t> bytes;  ///< of each block
  /// Where segments were given back: the number of requests before that.
  std::vector<std::uint32_t> releases;
};

/// Of the first process.
RequestList request_list(const EventRecord& events);

/// Of every GPU, as the forecast needs it.
struct ForecastGpu {
  std::size_t available_bytes = 0;  ///< for segments
  std::string alloc_conf;
  RuleSet rules;
};

class RequestForecast {
 public:
  /// Takes over a run in which every request was served, unless there were very many. `was_scarce`:
  /// segments were given back to serve them.
  void learn(std::int64_t value, RequestList run, bool was_scarce);

  /// Whether every request would be served; nullopt: too little is known.
  std::optional<bool> fits(std::int64_t value, const ForecastGpu& gpu) const;

  /// For a search on GPUs of another kind, in another process.
  std::string encoded() const;
  static RequestForecast decoded(std::string_view bytes);

 private:
  /// Runs that asked for the same blocks in the same order.
  struct Shape {
    RequestList run;                   ///< the last one
    std::vector<std::int64_t> values;  ///< of all of them, in that order
    std::vector<double> slopes;        ///< bytes of each block for each unit; empty: not known
    std::int64_t reach = 0;            ///< how far apart the values were that tell them
    bool is_from_here = false;         ///< false: the last run was on a GPU of another kind

    std::int64_t bytes_at(std::int64_t value, std::size_t block) const;
    void add(std::int64_t value, RequestList other);
    template <class Archive, class T>
    friend void fields(Archive& archive, T& shape);
  };

  /// The one with the run nearest to the value; nullptr: there is none.
  const Shape* shape_at(std::int64_t value) const;

  std::vector<Shape> shapes_;
};

}  // namespace ohm::engine
