// Growth of a GPU's memory, of which Python is told: the library runs what a program is in a part
// of, with its locks held, so the call is left to Python, which makes it between two instructions
// of the program's main thread.
//
//   void ohm_follow_growth(int (*schedule)(int (*)(void*), void*), int (*call)(void*))
//     schedule: Py_AddPendingCall; nullptr: no call any more
#pragma once

#include <cstddef>

namespace ohm::interpose {

using GrowthCall = int (*)(void*);
using GrowthScheduler = int (*)(GrowthCall, void*);

/// So much is allocated on a GPU, with the last request. Calls are scheduled where that has become
/// a quarter more, and 64 MiB at least.
void note_growth(std::size_t allocated_bytes);

}  // namespace ohm::interpose
