// Values that an operator may still be writing.
//
// PyTorch's operators fill or copy memory and then have kernels write to it, and only
// libohm_cuda.so sees those kernels. What is filled is known provisionally: the next piece of work
// of the same thread either belongs to the same operator, and the values are unknown from then on,
// or to another one, and they stay known. harness/record/ohm_provisional.py tells which, through
// functions that this file's library exports:
//
//   void ohm_mark_provisionally(const void* address, size_t bytes)
//     Known until the calling thread's next work is judged.
//   int ohm_is_known(const void* address, size_t bytes)
//     1 if every byte of the range is known. An operator that asks reads it: what the calling
//     thread has marked provisionally of the range is known from then on.
//   void ohm_confirm_values()
//     The same of all that the calling thread has marked.
//   void ohm_follow_work(int (*)())
//     Judges work (Judgment) before it begins; called only where something is provisional. nullptr:
//     no longer; what is provisional then becomes unknown.
#pragma once

namespace ohm::interpose {

/// What work means for the values that its thread has marked provisionally.
enum class Judgment : int {
  of_same_operator = 0,  ///< unknown from now on
  of_another = 1,        ///< known
  undecided = 2,         ///< provisional as before: a fill or a copy that marks its own target
};

using WorkFollower = Judgment (*)();

/// A kernel or a call of a library that may write device memory is about to begin.
void judge_provisional_values();

}  // namespace ohm::interpose
