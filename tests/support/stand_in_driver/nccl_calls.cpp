// NCCL's functions: what a group was asked for is done when it ends.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/cuda/nccl_functions.h"
#include "tests/support/stand_in_driver/library_memory.h"

namespace ohm::stand_in::nccl {

using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, symbol, ...) \
  __attribute__((visibility("default"))) NcclResult member(__VA_ARGS__) __asm__(#symbol);
OHM_FOR_EACH_NCCL_FUNCTION(OHM_ROW)
#undef OHM_ROW
__attribute__((visibility("default")))
const char* result_text(NcclResult) __asm__("ncclGetErrorString");

namespace {

constexpr NcclResult kInvalid = 4;

struct Comm {
  int size = 0;
  int rank = 0;
  std::size_t card = 0;
};

enum class Kind : std::uint8_t { all_reduce, broadcast, reduce, all_gather, reduce_scatter };

/// What one card was asked for.
struct Part {
  const Comm* comm = nullptr;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  int type = 0;
  Kind kind = Kind::all_reduce;
  int root = 0;  ///< the rank, of a broadcast or a reduction

  bool is_like(const Part& other) const {
    return count == other.count && type == other.type && kind == other.kind && root == other.root;
  }

  std::size_t all() const { return count * static_cast<std::size_t>(comm->size); }
  std::size_t inputs() const { return kind == Kind::reduce_scatter ? all() : count; }
  std::size_t outputs() const { return kind == Kind::all_gather ? all() : count; }
};

struct Group {
  std::vector<Part> parts;
  NcclResult failure = 0;  ///< of a call in it: then it does nothing, and its end says so
};

Group& group() {
  static Group current;
  return current;
}

DType dtype_of(int type) {
  switch (type) {
    case kNcclFloat16:
      return DType::float16;
    case kNcclBFloat16:
      return DType::bfloat16;
    case kNcclFloat64:
      return DType::float64;
    case kNcclInt64:
      return DType::int64;
    case kNcclInt32:
      return DType::int32;
    default:
      return DType::float32;
  }
}

template <class T>
T* part_memory(const Part& part, const void* address, std::size_t count) {
  return static_cast<T*>(memory_at(machine().cards[part.comm->card],
                                   reinterpret_cast<std::uintptr_t>(address), count * sizeof(T)));
}

/// What the group has as a whole: the root's input, all inputs behind one another, or their sum.
template <class T>
std::vector<T> whole_of(const std::vector<Part>& parts) {
  const Part& first = parts.front();
  std::vector<T> whole;
  if (first.kind == Kind::broadcast || first.kind == Kind::all_gather) {
    for (const Part& part : parts) {
      if (first.kind == Kind::broadcast && part.comm->rank != first.root) continue;
      const T* const input = part_memory<T>(part, part.from, first.count);
      whole.insert(whole.end(), input, input + first.count);
    }
    return whole;
  }
  std::vector<double> sums(first.inputs());
  for (const Part& part : parts) {
    const T* const input = part_memory<T>(part, part.from, sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += number(input[i]);
  }
  for (const double sum : sums) whole.push_back(convert_element<T>(sum));
  return whole;
}

template <class T>
void run(const std::vector<Part>& parts) {
  const std::vector<T> whole = whole_of<T>(parts);
  for (const Part& part : parts) {
    const auto rank = static_cast<std::size_t>(part.comm->rank);
    if (part.kind == Kind::reduce && part.comm->rank != part.root) continue;
    const std::size_t first = part.kind == Kind::reduce_scatter ? rank * part.count : 0;
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(first), part.outputs(),
                part_memory<T>(part, part.to, part.outputs()));
  }
}

NcclResult add(const char* symbol, const Part& part) {
  Machine& now = machine();
  if (const int error = now.begin(symbol)) return group().failure = error;
  if (&now.card() != &now.cards[part.comm->card]) {
    return now.wrong("a collective in another card's context", kInvalid);
  }
  group().parts.push_back(part);
  return 0;
}

const Comm* comm_of(NcclComm comm) { return reinterpret_cast<const Comm*>(comm); }

}  // namespace

const char* result_text(NcclResult result) {
  return result == 1 ? "unhandled cuda error" : "as it was told";
}

NcclResult version(int* version) {
  *version = 22809;
  return 0;
}

NcclResult create_all(NcclComm* comms, int count, const int* cards) {
  Machine& now = machine();
  if (const int error = now.begin("ncclCommInitAll", false)) return error;
  for (int i = 0; i < count; ++i) {
    auto* const comm = now.make<Comm>();
    *comm = {count, i, static_cast<std::size_t>(cards[i])};
    comms[i] = reinterpret_cast<NcclComm>(comm);
  }
  return 0;
}

NcclResult destroy(NcclComm comm) { return machine().drop(comm); }

NcclResult group_start() {
  group() = {};
  return machine().begin("ncclGroupStart", false);
}

NcclResult group_end() {
  if (const int error = machine().begin("ncclGroupEnd", false)) return error;
  const Group ended = std::exchange(group(), {});
  if (ended.failure != 0) return ended.failure;
  std::vector<Part> parts = ended.parts;
  if (parts.empty() || static_cast<int>(parts.size()) != parts.front().comm->size) {
    return machine().wrong("a group without some of its cards", kInvalid);
  }
  if (!std::all_of(parts.begin(), parts.end(),
                   [&](const Part& part) { return part.is_like(parts.front()); })) {
    return machine().wrong("a group whose cards do not do the same", kInvalid);
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.comm->rank < b.comm->rank; });
  visit_dtype(dtype_of(parts.front().type), [&]<class T>(TypeTag<T>) { run<T>(parts); });
  return 0;
}

NcclResult all_reduce(const void* from, void* to, std::size_t count, int type, int operation,
                      NcclComm comm, StreamHandle /*stream*/) {
  if (operation != kNcclSum) return machine().wrong("another reduction", kInvalid);
  return add("ncclAllReduce", {comm_of(comm), from, to, count, type, Kind::all_reduce});
}

NcclResult broadcast(const void* from, void* to, std::size_t count, int type, int root,
                     NcclComm comm, StreamHandle /*stream*/) {
  return add("ncclBroadcast", {comm_of(comm), from, to, count, type, Kind::broadcast, root});
}

NcclResult reduce(const void* from, void* to, std::size_t count, int type, int operation, int root,
                  NcclComm comm, StreamHandle /*stream*/) {
  if (operation != kNcclSum) return machine().wrong("another reduction", kInvalid);
  return add("ncclReduce", {comm_of(comm), from, to, count, type, Kind::reduce, root});
}

NcclResult all_gather(const void* from, void* to, std::size_t count, int type, NcclComm comm,
                      StreamHandle /*stream*/) {
  return add("ncclAllGather", {comm_of(comm), from, to, count, type, Kind::all_gather});
}

NcclResult reduce_scatter(const void* from, void* to, std::size_t count, int type, int operation,
                          NcclComm comm, StreamHandle /*stream*/) {
  if (operation != kNcclSum) return machine().wrong("another reduction", kInvalid);
  return add("ncclReduceScatter", {comm_of(comm), from, to, count, type, Kind::reduce_scatter});
}

}  // namespace ohm::stand_in::nccl
