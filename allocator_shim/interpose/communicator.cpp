#include "allocator_shim/interpose/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/gpu_variable.h"

namespace ohm::interpose {
namespace {

constexpr int kNoColor = -1;

thread_local std::string warning;

bool ranks_are_absent() {
  const char* const value = std::getenv(kAbsentRanksVariable);
  return value != nullptr && *value != '\0';
}

NcclStatus warned(NcclStatus status, std::string text) {
  warning = std::move(text);
  return status;
}

/// As NCCL writes the number of a GPU: its PCI address without punctuation.
std::string bus_number(int gpu) {
  std::string digits;
  for (const char c : pci_bus_id(gpu)) {
    if (c != ':' && c != '.') digits += c;
  }
  return fmt::format("{:x}", std::strtoull(digits.c_str(), nullptr, 16));
}

/// The others leave, since one of them is refused.
NcclStatus check_gpus(const RankChannel& channel) {
  const auto pair = channel.ranks_on_one_gpu();
  if (!pair) return NcclStatus::success;
  const auto [first, second] = *pair;
  if (channel.rank() != first && channel.rank() != second) return NcclStatus::remote_error;
  const int other = channel.rank() == first ? second : first;
  return warned(NcclStatus::invalid_usage,
                fmt::format("Duplicate GPU detected : rank {} and rank {} both on CUDA device {}",
                            channel.rank(), other, bus_number(channel.gpu())));
}

NcclStatus check_devices(int count, const int* devices) {
  std::set<int> known;
  for (int i = 0; i < count; ++i) {
    const int device = devices == nullptr ? i : devices[i];
    if (!gpus().has(device)) {
      return warned(NcclStatus::invalid_argument,
                    fmt::format("Invalid device {} (totalnDev {})", device, gpus().count()));
    }
    if (!known.insert(device).second) return NcclStatus::invalid_usage;
  }
  return NcclStatus::success;
}

/// What a rank says when a communicator is split.
struct Choice {
  int color;
  int key;
  Meeting meeting;
};

/// The ranks of one color, in the order of the new communicator.
std::vector<int> members(const std::vector<Choice>& choices, int color) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < choices.size(); ++rank) {
    if (choices[rank].color == color) ranks.push_back(static_cast<int>(rank));
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return choices[static_cast<std::size_t>(a)].key < choices[static_cast<std::size_t>(b)].key;
  });
  return ranks;
}

/// Every rank offers a meeting; that of the first of each color is where they meet.
struct SplitInProgress {
  Split asked;
  Choice own;
  std::vector<Choice> choices;

  Collective exchange() {
    constexpr int kBytes = 1;
    return {CollectiveKind::all_gather,
            &own,
            choices.data(),
            sizeof(Choice),
            kBytes,
            0,
            0,
            asked.whole};
  }

  NcclStatus open(NcclStatus exchanged) const {
    const std::vector<int> ranks = members(choices, asked.color);
    if (ranks.empty() || ranks.front() != asked.whole->rank) RankChannel::end(own.meeting);
    if (exchanged != NcclStatus::success || asked.color == kNoColor) return exchanged;
    const auto rank = std::find(ranks.begin(), ranks.end(), asked.whole->rank) - ranks.begin();
    return open_communicator(asked.part, &choices[static_cast<std::size_t>(ranks.front())].meeting,
                             static_cast<int>(ranks.size()), static_cast<int>(rank),
                             asked.whole->device);
  }
};

}  // namespace

NcclStatus open_communicator(Communicator** communicator, const Meeting* meeting, int ranks,
                             int rank, int device) {
  if (!gpus().has(device)) return NcclStatus::unhandled_cuda_error;
  auto opened = std::make_unique<Communicator>();
  opened->ranks = ranks;
  opened->rank = rank;
  opened->device = device;
  if (meeting != nullptr && (ranks == 1 || !ranks_are_absent())) {
    opened->channel = RankChannel::open(
        *meeting, ranks, rank, {gpus().number_in_machine(opened->device), gpus().are_shared()});
    if (opened->channel == nullptr) {
      return RankChannel::has_ended(*meeting) ? NcclStatus::remote_error : NcclStatus::system_error;
    }
  }
  *communicator = opened.release();
  return NcclStatus::success;
}

NcclStatus wait_for_ranks(Communicator** communicator) {
  const Communicator* const opened = *communicator;
  if (opened == nullptr || opened->channel == nullptr) return NcclStatus::success;
  const NcclStatus status =
      opened->channel->wait_for_all() ? check_gpus(*opened->channel) : NcclStatus::remote_error;
  if (status == NcclStatus::success) return status;
  delete opened;  // NOLINT(cppcoreguidelines-owning-memory): as the program would
  *communicator = nullptr;
  return status;
}

NcclStatus open_all_communicators(Communicator** communicators, int count, const int* devices) {
  const NcclStatus checked = check_devices(count, devices);
  if (checked != NcclStatus::success) return checked;
  const Meeting meeting = RankChannel::arrange();
  NcclStatus status = NcclStatus::success;
  for (int rank = 0; rank < count && status == NcclStatus::success; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    status = open_communicator(&communicators[rank], &meeting, count, rank, device);
  }
  RankChannel::end(meeting);
  return status;
}

NcclStatus split(const std::vector<Split>& splits) {
  std::vector<SplitInProgress> all;
  for (const Split& one : splits) {
    *one.part = nullptr;
    all.push_back({one,
                   {one.color, one.key, RankChannel::arrange()},
                   std::vector<Choice>(static_cast<std::size_t>(one.whole->ranks))});
  }
  std::vector<Collective> exchanges;
  for (SplitInProgress& one : all) exchanges.push_back(one.exchange());
  NcclStatus status = run(exchanges);
  for (const SplitInProgress& one : all) {
    const NcclStatus opened = one.open(status);
    if (status == NcclStatus::success) status = opened;
  }
  for (const Split& one : splits) {
    const NcclStatus met = wait_for_ranks(one.part);
    if (status == NcclStatus::success) status = met;
  }
  return status;
}

NcclStatus run(const std::vector<Collective>& collectives) {
  for (const Collective& collective : collectives) {
    const NcclStatus status = post(collective);
    if (status != NcclStatus::success) return status;
  }
  for (const Collective& collective : collectives) {
    const NcclStatus status = complete(collective);
    if (status != NcclStatus::success) return status;
  }
  return NcclStatus::success;
}

const char* last_nccl_warning() { return warning.c_str(); }

}  // namespace ohm::interpose
