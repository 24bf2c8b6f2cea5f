"""What a loop or a comprehension makes of a value that it loops over or selects by (ohm_use_search.py)."""
from ohm_use_branches import Branch, are_plain
from ohm_use_calls import gives_keys
from ohm_use_files import name_of
from ohm_use_kinds import (
    ALL_CHOSEN, BRANCH, CHOSEN, LISTS, SET, TEXT, VALUE, consumer_of, kept_by, unknown_part, worse)


class Loops:
    """Of Search."""

    def _of_loop(self, file, loop, node, frame, scope):
        consumer = consumer_of(scope, file.parents)
        is_uncertain = node is not loop.iter or self.made is SET
        if is_uncertain and consumer is not None:  # sum(1 for ... if ...)
            self.made = TEXT if name_of(consumer) == "join" else None
            return self._outwards(file, consumer, frame)
        if is_uncertain:
            return self._of_filtered(file, scope, loop, frame)
        if gives_keys(file, loop.iter, self.made):
            return None
        target = unknown_part(loop, self.made, self.place)
        self._enter_loop()
        return self._of_names(file, scope, target, frame)

    def _of_for(self, file, loop, frame):
        """How often it runs or in which order may only decide what is printed."""
        if gives_keys(file, loop.iter, self.made):
            return None
        found = Branch(self, file, loop, frame).decides() if self.made in (SET, CHOSEN) else None
        target = unknown_part(loop, self.made, self.place)
        self._enter_loop()
        return found if found == BRANCH else worse(found, self._of_target(file, target, frame))

    def _of_filtered(self, file, comprehension, loop, frame):
        """Numbers and text are only counted, as far as nothing else depends on how many there are."""
        elements = kept_by(comprehension, loop)
        if self.made is SET or not elements:
            return BRANCH
        is_running = frame is not None and file.runs_in(frame, loop.ifs[0])
        if self.is_followed and not is_running:
            return VALUE  # the comparison tells
        if not is_running or not are_plain(elements, frame):
            return BRANCH
        self.made = SET
        return self._outwards(file, comprehension, frame)

    def _enter_loop(self):
        """From what is looped over to what a round is given."""
        self.made = {LISTS: SET, ALL_CHOSEN: CHOSEN, CHOSEN: CHOSEN, TEXT: TEXT}.get(self.made)
