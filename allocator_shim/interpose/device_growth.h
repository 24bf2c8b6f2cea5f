// Tells Python when a GPU's memory grows. Requests come from within PyTorch, which holds locks, so
// the call is scheduled: Python makes it between two instructions of the main thread.
//
//   void ohm_follow_growth(int (*schedule)(int (*)(void*), void*), int (*call)(void*))
//     schedule: Py_AddPendingCall; nullptr: no call any more
#pragma once

#include <cstddef>

namespace ohm::interpose {

using GrowthCall = int (*)(void*);
using GrowthScheduler = int (*)(GrowthCall, void*);

/// Counts bytes that were taken of a GPU. Schedules a call at 16 MiB and after each further
/// quarter. Memory that is given back is not subtracted: caching allocators give little back.
void note_growth(std::size_t bytes);

}  // namespace ohm::interpose
