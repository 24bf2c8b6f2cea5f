"""What is told of the groups of tensors that variables hold (ohm_holders): a row of each, the largest first."""
from ohm_holder_paths import is_buffer, is_of_exception, kind_of, path_of

MOST_GROUPS = 100
COPIES = frozenset("list dictionary module".split())


class Told:
    """Of one look, which has counted its groups."""

    def __init__(self, look):
        self.look = look

    def joined(self, groups):
        """Largest first: containers beside each other that one line fills are one."""
        by_place, joined = {}, []
        for group in groups[:MOST_GROUPS]:
            group.place = group.place or self.look.places.of(group.first)
            key = self._key_of_siblings(group)
            if key in by_place:
                by_place[key].join(group)
                continue
            joined.append(group)
            if key is not None:
                by_place[key] = group
        return sorted(joined, key=lambda group: -group.bytes) + groups[MOST_GROUPS:]

    @staticmethod
    def _key_of_siblings(group):
        """What is equal of block.cache of each block, or of kept[name] of each name, if one line fills them."""
        first = group.first
        if group.place is None or first.step not in ("attribute", "item"):
            return None
        file, place = group.place
        return file, place.line, first.label if first.step == "attribute" else id(first.parent.thing)

    def _kind_of(self, group):
        kind = self._kind_of_whole(group)
        place = group.place[1] if group.place else None
        if place is not None and place.is_unrolled and 2 * group.graph_bytes >= group.bytes:
            return "unrolled"
        if kind in ("list", "dictionary") and place is not None and self.look.places.is_filling(group.first):
            return "filling"
        if kind in COPIES and not (place and place.grows) and 2 * group.updated_bytes >= group.bytes:
            return "updated"
        if kind == "tensor":
            is_result = place is not None and not place.grows
            return "result" if is_result else "concatenation" if place and place.is_collected else kind
        is_state = kind in ("list", "dictionary") and place is not None and place.is_carried
        return "state" if is_state else kind

    def _kind_of_whole(self, group):
        found = group.largest[0]
        if is_of_exception(found):
            return "exception"
        if is_buffer(group.first):
            return "buffer"
        if group.is_linked:
            return "linked"
        if group.keeps_models(self.look.kept_models):
            return "models"
        return kind_of(found, group.first, self.look.torch, group.keeps_optimizers(self.look.repeated))

    def row(self, group):
        found, is_of_graph = group.largest
        root = found.root
        file, place = group.place or (root.file, None)
        return {"variable": group.name, "function": root.function, "file": file,
                "line": place.line if place else 0,
                "bytes": group.bytes, "graph_bytes": group.graph_bytes, "blocks": group.blocks,
                "tensors": group.tensors, "scalars": group.scalars, "with_graph": group.with_graph,
                "kind": self._kind_of(group),
                "is_in_model": group.is_in_model,
                "is_concatenated": bool(place and place.is_concatenated),
                "is_differentiated": bool(place and place.is_differentiated),
                "path": path_of(found, is_of_graph)}


def may_grow(row, group):
    """A line makes it hold more, and it is no part of a model, or of a call of one."""
    return bool(group.place and group.place[1].grows and not group.is_in_model and
                row["kind"] not in ("module", "optimizer", "updated"))
