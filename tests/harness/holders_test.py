#!/usr/bin/env python3
"""How the recorder tells what keeps memory alive, without PyTorch: lines that make variables hold
more, and models that are kept beside the one that is trained.

    holders_test.py FOLDER [unittest's arguments]    # harness/record
"""
import ast
import collections
import gc
import itertools
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, sys.argv.pop(1))
from ohm_bounds import is_filling
from ohm_cycles import row_of_cycles
from ohm_growing_lines import Attribute, Item, Name, Source, growing_place, is_read, line_of_result
from ohm_holder_paths import GrowingPlaces, link_in
from ohm_item_attributes import place_of_setting
from ohm_trainings import KeptModels, Trainings


class Module:
    def __init__(self, *weights):
        self.weights = weights

    def parameters(self):
        return self.weights


class Optimizer:
    def __init__(self, model):
        self.param_groups = [{"params": list(model.parameters())}]


class Weight:
    __slots__ = ()  # no references to it: PyTorch would not swap it


class Tensor:
    pass


TORCH = types.SimpleNamespace(nn=types.SimpleNamespace(Module=Module), Tensor=Tensor,
                              optim=types.SimpleNamespace(Optimizer=Optimizer))


class KeptModelsTest(unittest.TestCase):
    def setUp(self):
        self.trainings = Trainings()
        self.pairs = []

    def make(self, models):
        for _ in range(models):
            model = Module(Weight())
            self.pairs.append((model, Optimizer(model)))
            self.trainings.note_optimizer(self.pairs[-1][1])

    def step(self, *indices):
        for index in indices:
            self.trainings.note_step(self.pairs[index][1])

    def are_kept(self, values):
        return KeptModels(TORCH, self.trainings).are_in(dict(enumerate(values)))

    def test_are_those_whose_training_ended_before_the_next_was_made(self):
        for fold in range(3):
            self.make(1)
            self.step(fold, fold)
        folds = [{"model": model, "optimizer": optimizer} for model, optimizer in self.pairs]
        self.assertTrue(self.are_kept(folds[:2]))
        self.assertTrue(self.are_kept(folds), "the last one, too")
        self.assertTrue(self.are_kept(self.pairs), "tuples")
        objects = [types.SimpleNamespace(net=model, opt=optimizer) for model, optimizer in self.pairs]
        self.assertTrue(self.are_kept(objects))
        self.assertTrue(self.are_kept([model for model, _ in self.pairs]), "without their optimizers")
        self.assertFalse(self.are_kept(folds[1:]), "one is trained")
        self.assertFalse(self.are_kept([optimizer for _, optimizer in self.pairs]))

    def test_are_kept_when_their_optimizers_are_gone(self):
        for fold in range(3):
            self.make(1)
            self.step(fold, fold)
            model, _ = self.pairs[fold]
            self.pairs[fold] = model, None
        self.assertTrue(self.are_kept([model for model, _ in self.pairs]))

    def test_are_none_of_those_that_are_trained_by_turns(self):
        self.make(4)
        self.step(0, 1, 2, 3, 0, 1, 2, 3)
        self.assertFalse(self.are_kept(self.pairs))
        self.step(*[0] * 5, *[1] * 5)
        self.assertFalse(self.are_kept(self.pairs), "of different numbers of steps")

    def test_are_none_that_have_not_been_trained(self):
        others = [Module(Weight()) for _ in range(4)]
        self.assertFalse(self.are_kept(others), "of a program that serves several")
        self.make(1)
        self.step(0, 0)
        self.assertFalse(self.are_kept(others), "clients whose turn comes later")


def place(text, name):
    return growing_place(Source(ast.parse(text)), name)


class GrowingPlacesTest(unittest.TestCase):
    def test_queue_grows_where_something_is_put_into_it(self):
        text = "waiting = queue.Queue()\nwaiting.put(node)\n"
        self.assertEqual(2, place(text, Name("waiting")).line)
        self.assertTrue(place(text.replace("put", "put_nowait"), Name("waiting")).grows)
        self.assertIsNone(place("waiting = queue.Queue()\n", Name("waiting")))

    def test_item_grows_where_its_container_is_made_anew(self):
        text = 'memory = {"turns": []}\nmemory = {**memory, "turns": [*memory["turns"], turn]}\n'
        found = place(text, Item(Name("memory"), "'turns'"))
        self.assertEqual((2, True), (found.line, found.grows))
        self.assertIsNone(place(text, Item(Name("others"), "'turns'")))

    def test_buffer_is_read_beside_the_line_that_makes_it_longer(self):
        text = ("class Queue:\n    def add(self, key):\n        self.keys = torch.cat([self.keys, key])\n"
                "    def forward(self, x):\n        return x @ self.keys\n")
        name = Attribute("keys", "Queue")
        self.assertTrue(place(text, name).is_concatenated)
        self.assertTrue(is_read(Source(ast.parse(text)), name))
        self.assertFalse(is_read(Source(ast.parse(text.replace("x @ self.keys", "x"))), name))

    def test_attribute_is_set_where_a_program_goes_through_a_container(self):
        text = ("documents.append(Document())\nfor document in documents:\n    document.vector = f(document)\n"
                "    document.score = 1\nfor document in documents:\n    document.vector = document.vector.half()\n")
        source = Source(ast.parse(text))
        found = place_of_setting(source, "vector", container_grows=True)
        self.assertEqual((3, True), (found.line, found.grows))
        self.assertIsNone(place_of_setting(source, "score", container_grows=True), "a number")

    def test_a_property_is_of_the_line_that_returns(self):
        text = ("@cached_property\ndef image(self):\n    def load():\n        return 1\n"
                "    image = load()\n    return image.cuda()\n")
        function = Source(ast.parse(text)).function("image", 1)
        self.assertEqual(6, line_of_result(function))
        self.assertEqual(1, line_of_result(ast.parse("def f(): pass").body[0]))

    def test_attribute_that_a_method_sets_counts_where_the_container_does_not_grow(self):
        text = ("class Document:\n    def __init__(self):\n        self.vector = make()\n"
                "    def encode(self):\n        self.vector = f(self)\n")
        source = Source(ast.parse(text))
        self.assertIsNone(place_of_setting(source, "vector", container_grows=True))
        self.assertEqual(5, place_of_setting(source, "vector", container_grows=False).line)
        self.assertEqual(5, place(text, Attribute("vector", "Document")).line)


    def test_state_in_a_tuple_of_targets_is_carried(self):
        text = "for x in data:\n    out, (h, c) = lstm(x, (h, c))\n"
        self.assertTrue(place(text, Name("h")).is_carried)
        self.assertFalse(place(text, Name("out")).grows)
        self.assertTrue(place("while (h := cell(h)) is not None:\n    pass\n", Name("h")).is_carried)
        self.assertTrue(place("for x in data:\n    first, *rest = step(rest)\n", Name("rest")).grows)


class UnrolledLoopsTest(unittest.TestCase):
    TRAINING = ("def train(model, text):\n"
                "    for epoch in range(3):\n"
                "        h = zeros()\n"
                "        losses = []\n"
                "        for token in text:\n"
                "            out, h = model(token, h)\n"
                "            losses.append(criterion(out))\n"
                "        loss = torch.stack(losses).mean()\n"
                "        loss.backward()\n")

    def is_unrolled(self, text, name):
        function = ast.parse(text).body[0]
        return place(text, Name(name, function.name, function.lineno)).is_unrolled

    def test_are_those_with_one_backward_pass_through_their_states(self):
        self.assertTrue(self.is_unrolled(self.TRAINING, "losses"))
        self.assertTrue(self.is_unrolled(self.TRAINING, "h"))

    def test_are_none_where_each_pass_moves_what_it_goes_through(self):
        text = self.TRAINING.replace("h = zeros()", "token = zeros()").replace(
            "out, h = model(token, h)", "token = token.cuda()")
        self.assertFalse(self.is_unrolled(text, "losses"))

    def test_are_none_without_a_state_that_begins_anew(self):
        carried_on = self.TRAINING.replace("        h = zeros()\n", "        pass\n")
        self.assertFalse(self.is_unrolled(carried_on, "losses"), "from epoch to epoch")
        without = self.TRAINING.replace("model(token, h)", "model(token)")
        self.assertFalse(self.is_unrolled(without, "losses"))

    def test_are_none_without_a_backward_pass_behind_them(self):
        self.assertFalse(self.is_unrolled(self.TRAINING.replace("loss.backward()", "print(loss)"), "losses"))
        in_each_step = self.TRAINING.replace(" loss = ", "     loss = ").replace(" loss.b", "     loss.b")
        self.assertFalse(self.is_unrolled(in_each_step, "losses"))

    def test_are_inner_loops_of_which_gradients_have_graphs(self):
        text = ("def adapt(model, x):\n"
                "    fast = dict(model.named_parameters())\n"
                "    for _ in range(5):\n"
                "        grads = torch.autograd.grad(f(fast, x), fast.values(), create_graph=True)\n"
                "        fast = {n: p - g for (n, p), g in zip(fast.items(), grads)}\n"
                "        kept.append(grads)\n"
                "    return fast\n")
        self.assertTrue(self.is_unrolled(text, "fast"))
        self.assertFalse(self.is_unrolled(text.replace("=True", "=False"), "fast"))
        self.assertFalse(self.is_unrolled(text, "kept"))


class Buffer:
    def __init__(self, items, most):
        self.items, self.most = items, most


class BoundsTest(unittest.TestCase):
    def is_filling(self, statement, items, most=4):
        buffer = Buffer([0] * items, most)
        owner = types.SimpleNamespace(thing=buffer, parent=None, step="variable")
        found = types.SimpleNamespace(thing=buffer.items, parent=owner, step="attribute")
        text = f"class Buffer:\n    def push(self, one):\n        {statement}\n"
        return is_filling(found, [(Source(ast.parse(text)), Attribute("items", "Buffer"))])

    def test_are_lengths_that_decide_over_growth(self):
        for statement in ("if len(self.items) < self.most: self.items.append(one)",
                          "while len(self.items) > self.most: self.items.pop(0)",
                          "if self.most <= len(self.items): self.items.clear()",
                          "if len(self.items) == 4: del self.items[0]"):
            self.assertTrue(self.is_filling(statement, 3), statement)
            self.assertFalse(self.is_filling(statement, 5), statement)

    def test_are_slices_and_limits_of_unknown_size(self):
        self.assertTrue(self.is_filling("if len(self.items) < limit(): self.items.append(one)", 5))
        self.assertTrue(self.is_filling("self.items = self.items[-4:]", 5))
        self.assertTrue(self.is_filling("del self.items[:-4]", 5))

    def test_are_none_of_other_comparisons(self):
        self.assertFalse(self.is_filling("if len(self.items) < self.most: return", 3))
        self.assertFalse(self.is_filling("if len(self.items) % 4 == 0: print(self.items)", 3))
        self.assertFalse(self.is_filling("if len(self.others) < self.most: self.items.append(one)", 3))

    def test_are_of_deques(self):
        found = types.SimpleNamespace(thing=collections.deque(maxlen=3), parent=None, step="variable")
        self.assertTrue(is_filling(found, []))
        found.thing = collections.deque()
        self.assertFalse(is_filling(found, []))


class Node:
    def __init__(self, parent):
        self.parent, self.children, self.value = parent, [], Tensor()


def chain_along(*things):
    return [types.SimpleNamespace(thing=thing) for thing in things]


class LinkedObjectsTest(unittest.TestCase):
    def test_begin_with_the_first_that_leads_to_another(self):
        root = Node(None)
        child = Node(root)
        search = types.SimpleNamespace(root=root)
        chain = chain_along(search, root, {"left": child}, child, child.value)
        self.assertIs(chain[1], link_in(chain, TORCH))
        self.assertIsNone(link_in(chain_along(search, root, root.value), TORCH))

    def test_are_no_modules_and_no_containers(self):
        for thing in (Module(), {}, (), Optimizer(Module())):
            self.assertIsNone(link_in(chain_along(thing, thing, thing, Tensor()), TORCH))


class CyclesTest(unittest.TestCase):
    class Pages:
        def __init__(self):
            self.pixels = Tensor()
            self.first = Node(self)

    def setUp(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        files = types.SimpleNamespace(is_program=lambda path: True)
        self.look = types.SimpleNamespace(torch=TORCH, seen=set(), is_on_device=lambda tensor: True,
                                          take=lambda tensor: 10, holders=types.SimpleNamespace(files=files))

    def row(self):
        return row_of_cycles(self.look, types.SimpleNamespace(of=lambda file: None))

    def test_hold_what_no_variable_reaches(self):
        for _ in range(4):
            self.Pages()
        row = self.row()
        self.assertEqual(("Pages.pixels", 40, 4, "cycle"),
                         tuple(row[name] for name in ("variable", "bytes", "blocks", "kind")))

    def test_are_none_of_what_is_held(self):
        pages = [self.Pages() for _ in range(4)]
        self.assertIsNone(self.row(), "by a library, as no variable of the program reaches it")
        self.look.seen = {id(one) for page in pages for one in (page, page.pixels, page.first, page.first.value)}
        self.assertIsNone(self.row())


class NoFiles:
    def is_program(self, path):
        return False


class GrowingPlacesOfALookTest(unittest.TestCase):
    def look(self, seconds_taken=0.0):
        kept = []
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("kept = []\nkept.append(1)\n")
            file.flush()
            root = types.SimpleNamespace(name="kept", function="<module>", file=file.name, first_line=0)
            found = types.SimpleNamespace(thing=kept, parent=None, label="kept", step="variable", root=root)
            places = GrowingPlaces({id(kept): [root]}, NoFiles())
            places.seconds = seconds_taken
            return places.of(found)

    def test_attribute_of_a_state_is_set_where_the_state_is_carried_on(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("for x in data:\n    out, state = model(x, state)\n")
            file.flush()
            root = types.SimpleNamespace(name="state", function="<module>", file=file.name, first_line=0)
            state = types.SimpleNamespace(hidden=Tensor())
            owner = types.SimpleNamespace(thing=state, parent=None, label="state", step="variable", root=root)
            found = types.SimpleNamespace(thing=state.hidden, parent=owner, label=".hidden", step="attribute",
                                          root=root)
            _, line = GrowingPlaces({id(state): [root]}, NoFiles()).of(found)
        self.assertEqual((2, True), (line.line, line.is_carried))

    def test_are_found_on_a_busy_machine(self):
        clock = itertools.count(step=3600)
        with unittest.mock.patch("time.monotonic", lambda: next(clock)):
            _, line = self.look()
        self.assertEqual((2, True), (line.line, line.grows))

    def test_are_not_looked_for_without_end(self):
        self.assertIsNotNone(self.look())
        self.assertIsNone(self.look(seconds_taken=3600))


if __name__ == "__main__":
    unittest.main()
