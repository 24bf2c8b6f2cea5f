"""Random programs, each a list of Python statements that a seed decides.

A program is made of statements of one line, so that any of them can be left out to shrink it; the
twin in Lua is a translation of it. A kind of programs is a row of KINDS.
"""
import random

from kinds.attention import attention_program
from kinds.averages import averaging_program, dropped_program
from kinds.contractions import contracted_program
from kinds.drops import drops_program
from kinds.encoders import encoder_program
from kinds.everyday import everyday_program
from kinds.failed_modules import failing_modules
from kinds.failed_steps import failing_steps
from kinds.failures import failing_program
from kinds.further import further_program
from kinds.graphs import graph_program
from kinds.indexing import indexed_program
from kinds.lifetimes import in_place_program, lifetime_program, pairs_program, streams_program
from kinds.losses import compared_program
from kinds.modules import cudnn_program, module_program
from kinds.ops import autocast_program, empty_program, op_program
from kinds.optimizers import optimized_program
from kinds.promotions import promoted_program
from kinds.recurrent import recurrent_program
from kinds.sampling import sampled_program
from kinds.second_gradients import layer_second_gradient_program, second_gradient_program
from kinds.sequences import unbatched_program
from kinds.shapes import padded_program, shaped_program
from kinds.sizes import sized_program
from kinds.training import modes_program, training_program
from kinds.volumes import volume_program
from kinds.weights import normed_program

KINDS = {
    "ops": op_program,
    "modules": module_program,
    "modules with cuDNN": cudnn_program,
    "lifetimes": lifetime_program,
    "drops": drops_program,
    "graphs": graph_program,
    "autocast": autocast_program,
    "in place": in_place_program,
    "no elements": empty_program,
    "modes": modes_program,
    "training": training_program,
    "streams": streams_program,
    "attention": attention_program,
    "pairs": pairs_program,
    "second gradients": second_gradient_program,
    "second gradients of layers": layer_second_gradient_program,
    "shapes": shaped_program,
    "padding and resizing": padded_program,
    "volumes": volume_program,
    "everyday": everyday_program,
    "further": further_program,
    "sampling": sampled_program,
    "losses with margins": compared_program,
    "normalised weights": normed_program,
    "recurrent layers": recurrent_program,
    "encoders in evaluation": encoder_program,
    "sequences without a batch": unbatched_program,
    "averages of weights": averaging_program,
    "dropout and labels": dropped_program,
    "contractions": contracted_program,
    "indexing": indexed_program,
    "promotions": promoted_program,
    "sizes": sized_program,
    "optimizers": optimized_program,
    "failures": failing_program,
    "failed steps": failing_steps,
    "failed modules": failing_modules,
}


def generate(kind, seed):
    return KINDS[kind](random.Random(f"{kind} {seed}"))
