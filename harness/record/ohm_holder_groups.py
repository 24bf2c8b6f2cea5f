"""Tensors that are told of together: those that one variable, or one container in it, holds (ohm_holders)."""
from ohm_holder_paths import chain_of, model_in
from ohm_trainings import FEWEST_KEPT

SEVERAL = 3  # optimizers of one parameter, or with as many models, are what a program has kept


class Group:
    """`first` found of them, and how the program names what holds them."""

    def __init__(self, first, name):
        self.first, self.name = first, name
        self.largest = None  # the Found of the largest part, and what it leads to
        self.bytes = self.graph_bytes = self.blocks = self.tensors = self.scalars = 0
        self.with_graph = self.updated_bytes = 0
        self.largest_bytes = -1
        self.place = None  # (file, Place) that fills it
        self.models, self.optimizers = set(), set()  # ids of those that are in it
        self.is_in_model = first.root.is_in_model
        self.is_linked = None  # whether it begins a linked structure; None: not known yet

    def join(self, other):
        if self.first.step == "item":
            self.name = self.name.removesuffix(self.first.label)
        self.bytes += other.bytes
        self.graph_bytes += other.graph_bytes
        self.updated_bytes += other.updated_bytes
        self.blocks += other.blocks
        self.tensors += other.tensors
        self.scalars += other.scalars
        self.with_graph += other.with_graph
        self.is_in_model &= other.is_in_model
        self.models |= other.models
        self.optimizers |= other.optimizers

    def keeps_more(self):
        """Than the step before."""
        return self.place is not None and (self.place[1].is_added_to or self.place[1].is_carried)

    def note_owners(self, found, torch):
        chain = chain_of(found)
        self.optimizers.update(id(one.thing) for one in chain if isinstance(one.thing, torch.optim.Optimizer))
        model = model_in(chain, torch)
        if model is not None:
            self.models.add(id(model.thing))

    def keeps_optimizers(self, repeated):
        """Not as a program trains with several: they stand for the same parameters, or lie with the models
        that they have trained."""
        if len(self.optimizers) < SEVERAL:
            return False
        return self.optimizers <= repeated or len(self.models) >= SEVERAL

    def keeps_models(self, kept_models):
        """Beside the one that is trained."""
        thing = self.first.thing
        if isinstance(thing, dict) and kept_models.are_in(thing):
            return self.place is not None and self.place[1].is_added_to
        is_several = len(self.models) >= FEWEST_KEPT
        return is_several and len(self.optimizers & kept_models.ended) >= FEWEST_KEPT


def version_of(tensor):
    """How often it has been changed in place; 0: tensors made for inference alone do not tell."""
    try:
        return tensor._version
    except RuntimeError:
        return 0
