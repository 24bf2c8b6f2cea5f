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

/// So much more was taken of a GPU. Calls are scheduled where it has become a quarter more in all,
/// and 16 MiB at least; what is given back counts on: allocators that cache hardly give any back.
void note_growth(std::size_t bytes);

}  // namespace ohm::interpose
