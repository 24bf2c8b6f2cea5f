// Which bytes of device memory hold known values, and what a program reads of the others.
//
// Kernels compute nothing. What a range of memory holds is known where it was copied from the host,
// or where harness/record/ohm_known.py has computed it; everything else is unknown. That module
// keeps the account, through functions that this file's library exports:
//
//   void ohm_mark_known(const void* address, size_t bytes), ohm_mark_unknown(address, bytes)
//     New blocks of PyTorch's allocator are unknown.
//   int ohm_is_known(const void* address, size_t bytes) (provisional_values.h)
//   void ohm_follow_unknown_reads(void (*)(const void* from, size_t bytes))
//     Called, without a lock, after each copy of unknown bytes to the host; nullptr: no longer. As
//     long as there is a follower, a single unknown number reads as 0: the memory may hold the
//     bytes of anything, and programs use such numbers as places and counts.
//   void ohm_answer_reads(const int64_t* answers, int count), ohm_end_answers()
//     Between them, copies of single integers to the host by the calling thread yield these
//     answers, one after the other and the last one from then on: the number of rows that an
//     operator counts on the device before it allocates its result.
//   void ohm_compute_values()
//     From now on that module computes everything: new blocks hold values as they do on a card,
//     and copies within a device are done whatever their size.
#pragma once

#include <cstddef>

namespace ohm::interpose {

/// What the caller of ohm_follow_unknown_reads passes.
using ReadFollower = void (*)(const void* from, std::size_t bytes);

/// A new block of PyTorch's allocator.
void mark_new_block(const void* address, std::size_t bytes);

bool is_known(const void* address, std::size_t bytes);
/// Of what has been written: `is_known_now` says with what.
void mark_written(const void* address, std::size_t bytes, bool is_known_now);

/// Whether what operators do is followed, by that module.
bool are_values_followed();

/// Whether everything is computed.
bool computes_values();

/// Of a copy from a device to the host that is done: answers it, or clears a single number that is
/// unknown and reports the read.
void follow_read(void* to, const void* from, std::size_t bytes);

}  // namespace ohm::interpose
