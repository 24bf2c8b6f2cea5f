"""Which models a program has trained and keeps: of folds, of trials, of former epochs. Those that it trains
by turns, as of a GAN or of several agents, are none of them (ohm_holders)."""
import types
import weakref

FEWEST_STEPS = 2  # of a training that has ended: the first steps of several follow each other, too
FEWEST_TRAINED = 2
FEWEST_UNTRAINED = 3  # copies: averages, best ones
MOST_VALUES = 8  # of a container that are looked at
MOST_PARTS = 16  # of one of them


class Trainings:
    """Of a process: the steps that each optimizer has made."""

    def __init__(self):
        self.steps = self.last_begin = 0
        self.spans = weakref.WeakKeyDictionary()  # optimizer -> (steps, last one) of it

    def note_step(self, optimizer):
        self.steps += 1
        steps, _ = self.spans.get(optimizer, (0, 0))
        if not steps:
            self.last_begin = self.steps
        self.spans[optimizer] = steps + 1, self.steps

    def has_ended(self, optimizer):
        """Before another one has begun."""
        steps, last = self.spans.get(optimizer, (0, 0))
        return steps >= FEWEST_STEPS and last < self.last_begin


class KeptModels:
    """Of one look: dictionaries that keep models which are not trained any more."""

    def __init__(self, torch, trainings):
        self.torch, self.trainings = torch, trainings
        self.trained = set()  # ids of parameters that optimizers still change
        self.ended = set()  # ids of optimizers
        self.known = {}  # id of a dictionary -> whether it keeps such models

    def note_optimizer(self, optimizer):
        if self.trainings.has_ended(optimizer):
            self.ended.add(id(optimizer))
            return
        for group in optimizer.param_groups:
            self.trained.update(map(id, group["params"]))

    def are_in(self, thing):
        """Once all optimizers have been noted."""
        if id(thing) not in self.known:
            self.known[id(thing)] = self._are_in(list(thing.values()))
        return self.known[id(thing)]

    def _are_in(self, values):
        if len(values) < FEWEST_TRAINED or not self.trainings.steps or len(set(map(type, values))) > 1:
            return False
        parts = [self._parts_of(value) for value in values[:MOST_VALUES]]
        if sum(any(id(one) in self.ended for one in some) for some in parts) >= FEWEST_TRAINED:
            return True
        return sum(map(self._are_untrained, parts)) >= FEWEST_UNTRAINED

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

    def _are_untrained(self, parts):
        models = [one for one in parts if isinstance(one, self.torch.nn.Module)]
        return bool(models) and self.trained.isdisjoint(self._parameters_of(models))

    def _parameters_of(self, models):
        return {id(one) for model in models for one in self.torch.nn.Module.parameters(model)}


def attributes_of(thing):
    """Without running anything of its class."""
    try:
        values = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return {}
    return values if isinstance(values, (dict, types.MappingProxyType)) else {}
