// Lists the calls of this process for a sweep, and follows what it does after one of them has
// failed (fault_trace.h). Where a program is when it makes a call is told by a follower in Python,
// in the thread that has set it, and otherwise by the call stack.
//
// Files in the folder of kCallTraceVariable, each line written at once, for a process may end at
// any call:
//
//     calls-PID     NAME PLACE: each call that can be made to fail
//     stacks-PID    PLACE FILE+ADDRESS...: each stack, the innermost frame first
#pragma once

#include <cstdint>

namespace ohm::interpose {

/// Whether a sweep wants to know of calls.
bool wants_call_trace();
/// A call that the program makes, before it is done.
void note_call(const char* name);
/// A call that returns an injected error, or the error that stays.
void note_failed_call(const char* name);
/// The program has asked for the error.
void note_error_is_read();

/// A fault of the plan is about to be injected. False: this process is not the one, or a fault was
/// injected before.
bool may_inject(bool is_sticky);

}  // namespace ohm::interpose
