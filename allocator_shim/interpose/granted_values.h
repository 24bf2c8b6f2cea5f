// Values that a program reads of a GPU's memory and that no kernel has computed, where it is known
// which ones it goes on with.
//
// Told by harness/record/ohm_values.py, which knows where libraries read them, through functions
// that this file's library exports:
//
//   void ohm_begin_check(), ohm_end_check()
//     Between them, and between others within, what the calling thread reads is whether something
//     is valid.
//   void ohm_note_assumption(const char* name)
//     Of the current GPU. A name that is not in assumption_table() is left alone.
#pragma once

#include <cstddef>

namespace ohm::interpose {

/// Of a copy to the host that is done: in a check, what was one bool there is true. False: it was
/// none, or no check was going on.
bool grant_check(void* read, std::size_t bytes);

}  // namespace ohm::interpose
