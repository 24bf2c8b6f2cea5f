"""Which models a program has trained and keeps beside the one that it trains: of folds, of trials.
Those that it trains by turns, as of a GAN or of several agents, are none of them (ohm_holders)."""
import types
import weakref

FEWEST_STEPS = 2  # of a training that has ended: it may have failed in the first one
FEWEST_KEPT = 2
MOST_VALUES = 8  # of a container that are looked at
MOST_PARTS = 16  # of one of them


class Trainings:
    """Of a process: the steps that its optimizers make. One that has made its last step before the
    newest one was made has ended."""

    def __init__(self):
        self.steps = self.newest = 0  # the steps that had been made when the newest optimizer was
        self.spans = weakref.WeakKeyDictionary()  # optimizer -> (steps, last one) of it
        # Ids of parameters that one has changed. PyTorch does not swap tensors that have references.
        self.changed = set()

    def note_optimizer(self, optimizer):
        self.newest = self.steps
        self.spans[optimizer] = 0, 0

    def note_step(self, optimizer):
        self.steps += 1
        steps, _ = self.spans.get(optimizer, (0, 0))
        self.spans[optimizer] = steps + 1, self.steps
        if steps + 1 == FEWEST_STEPS:
            self.changed.update(map(id, parameters_of(optimizer)))

    def have_ended(self):
        """Optimizers, and those that have not."""
        ended, others = [], []
        for optimizer, (steps, last) in list(self.spans.items()):
            has_ended = steps >= FEWEST_STEPS and last <= self.newest
            (ended if has_ended else others).append(optimizer)
        return ended, others


class KeptModels:
    """Of one look: dictionaries that keep models which have been trained, and are not any more."""

    def __init__(self, torch, trainings):
        self.torch, self.trainings = torch, trainings
        ended, others = trainings.have_ended()
        self.ended = set(map(id, ended))
        self.trained = {id(one) for optimizer in others for one in parameters_of(optimizer)}
        self.known = {}  # id of a dictionary -> whether it keeps such models

    def are_in(self, thing):
        if id(thing) not in self.known:
            self.known[id(thing)] = self._are_in(list(thing.values()))
        return self.known[id(thing)]

    def _are_in(self, values):
        if len(values) < FEWEST_KEPT or not self.trainings.steps or len(set(map(type, values))) > 1:
            return False
        return sum(map(self._is_kept, values[:MOST_VALUES])) >= FEWEST_KEPT

    def _is_kept(self, value):
        parts = self._parts_of(value)
        models = [one for one in parts if isinstance(one, self.torch.nn.Module)]
        if any(id(one) in self.ended for one in parts):
            return bool(models)
        ids = {id(one) for model in models for one in self.torch.nn.Module.parameters(model)}
        return self.trained.isdisjoint(ids) and not self.trainings.changed.isdisjoint(ids)

    def _parts_of(self, value):
        """Models and optimizers, of which it is one, or which it holds."""
        kinds = (self.torch.nn.Module, self.torch.optim.Optimizer)
        if isinstance(value, kinds):
            return [value]
        if isinstance(value, dict):
            parts = value.values()
        elif isinstance(value, (list, tuple)):
            parts = value
        else:
            parts = attributes_of(value).values()
        return [one for one in list(parts)[:MOST_PARTS] if isinstance(one, kinds)]


def parameters_of(optimizer):
    return [one for group in optimizer.param_groups for one in group["params"]]


def attributes_of(thing):
    """Without running anything of its class."""
    try:
        values = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return values if isinstance(values, (dict, types.MappingProxyType)) else {}
