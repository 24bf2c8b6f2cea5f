"""Fills and copies within operators.

An operator may fill memory, or copy to it, and then have kernels write to it that no operator calls: zeros
for a gradient, a copy of a matrix that a solver works on. So what is filled is known provisionally
(allocator_shim/interpose/provisional_values.h). The thread's next kernel belongs to the same operator where
the program is still in the same call; a thread of autograd, which has no call, is taken to be in it."""
import threading

# Judgment of provisional_values.h.
OF_SAME_OPERATOR, OF_ANOTHER, UNDECIDED = 0, 1, 2

MOST_FRAMES = 6  # that tell one call from another


class _Thread(threading.local):
    is_writing = False  # a fill or a copy, which marks what it writes
    place = ()  # of what is provisional


class Provisional:
    """Of KnownValues."""

    def __init__(self, known):
        self.known = known
        self.thread = _Thread()

    def follow(self):
        self.known.memory.follow_work(self._judge)

    def write(self, call, *arguments):
        """Calls a fill or a copy."""
        thread = self.thread
        before, thread.is_writing = thread.is_writing, True
        try:
            return call(*arguments)
        finally:
            thread.is_writing = before

    def mark(self, address, size):
        """Known until the next kernel of this thread."""
        place = self._place()
        if place != self.thread.place:
            self.known.memory.confirm()
            self.thread.place = place
        self.known.memory.mark_provisionally(address, size)

    def _judge(self):
        thread = self.thread
        if thread.is_writing:
            return UNDECIDED
        place = self._place()
        return OF_SAME_OPERATOR if not place or place == thread.place else OF_ANOTHER

    def _place(self):
        """Calls that the program is in."""
        frame = self.known.reads.reading_frame()
        place = []
        while frame is not None and len(place) < MOST_FRAMES:
            place.append((id(frame.f_code), frame.f_lasti))
            frame = frame.f_back
        return tuple(place)
