"""Cases of matrix products and of ops that are made of others."""
import torch

from inputs import HALVES, SPECIAL, const, integers, positive, randn


def matmul():
    for dtype in HALVES:
        name = str(dtype)[6:]
        yield f"mm_{name}", "mm", lambda: [randn(3, 4, dtype=dtype), randn(4, 2, dtype=dtype)]
        yield f"linear_{name}", "linear", lambda: [
            randn(3, 4, dtype=dtype), randn(2, 4, dtype=dtype), randn(2, dtype=dtype)]
    yield "mm_integers", "mm", lambda: [integers(5, 2, 3), integers(5, 3, 2)]
    yield "bmm", "bmm", lambda: [randn(2, 3, 4), randn(2, 4, 2)]
    yield "baddbmm", "baddbmm", lambda: [randn(2, 3, 2), randn(2, 3, 4), randn(2, 4, 2), 0.5, 2.0]
    yield "addmm", "addmm", lambda: [randn(2), randn(3, 4), randn(4, 2)]
    yield "addmm_matrix", "addmm", lambda: [randn(3, 2), randn(3, 4), randn(4, 2)]
    shapes = {"vectors": ((4,), (4,)), "matrix_vector": ((3, 4), (4,)),
              "vector_matrix": ((4,), (4, 3)), "batch_matrix": ((2, 3, 4), (4, 2)),
              "matrix_batch": ((3, 4), (2, 4, 2)), "batches": ((2, 3, 4), (2, 4, 2)),
              "broadcast_batches": ((2, 1, 3, 4), (3, 4, 2)), "batch_vector": ((2, 3, 4), (4,)),
              "vector_batch": ((3,), (2, 3, 4))}
    for name, (a, b) in shapes.items():
        yield f"matmul_{name}", "matmul", lambda: [randn(*a), randn(*b)]
    yield "linear_3d", "linear", lambda: [randn(2, 3, 4), randn(5, 4), randn(5)]
    yield "linear_no_bias", "linear", lambda: [randn(3, 4), randn(2, 4)]
    yield "linear_one_output", "linear", lambda: [randn(3, 4), randn(1, 4), randn(1)]


def composition():
    for op in ("sinh", "cosh", "atan", "exp2", "softsign", "tanhshrink", "softmin"):
        yield op, op, lambda: [randn(3, 4)]
    for op in ("asin", "acos"):
        yield op, op, lambda: [torch.rand(3, 4) * 1.8 - 0.9]
    yield "lerp", "lerp", lambda: [randn(3, 4), randn(4), 0.3]
    yield "addcmul", "addcmul", lambda: [randn(3, 4), randn(3, 4), randn(4), 1.5]
    yield "addcdiv", "addcdiv", lambda: [randn(3, 4), randn(3, 4), positive(3, 4), -0.5]
    yield "atan2", "atan2", lambda: [randn(3, 4), randn(3, 4)]
    yield "isinf", "isinf", lambda: [const(torch.tensor(SPECIAL))]
    yield "normalize", "normalize", lambda: [randn(3, 4)]
    yield "normalize_dim0", "normalize", lambda: [randn(3, 4), 2.0, 0, 1e-12]
    yield "cosine_similarity", "cosine_similarity", lambda: [randn(3, 4), randn(3, 4)]
    yield "pairwise_distance", "pairwise_distance", lambda: [randn(3, 4), randn(3, 4)]
    yield "rms_norm", "rms_norm", lambda: [randn(3, 4), [4], positive(4), 1e-5]
    yield "rms_norm_of_two", "rms_norm", lambda: [randn(2, 3, 4), [3, 4], None, 1e-5]
    yield "instance_norm", "instance_norm", lambda: [randn(2, 3, 2, 4)]
    yield "instance_norm_affine", "instance_norm", lambda: [
        randn(2, 3, 5), None, None, positive(3), randn(3), True, 0.1, 1e-3]
    yield "instance_norm_moving", "instance_norm", lambda: [
        randn(2, 3, 5), const(randn(3)), const(positive(3)), positive(3), randn(3), True, 0.3]
    yield "instance_norm_running", "instance_norm", lambda: [
        randn(2, 3, 4, 2), const(randn(3)), const(positive(3)), positive(3), randn(3), False]
    yield "group_norm", "group_norm", lambda: [randn(2, 4, 3), 2, positive(4), randn(4)]
    yield "group_norm_plain", "group_norm", lambda: [randn(2, 6), 3]
    yield "dot", "dot", lambda: [randn(5), randn(5)]
    yield "mv", "mv", lambda: [randn(3, 4), randn(4)]
    yield "einsum", "einsum", lambda: ["ij,jk->ik", [randn(2, 3), randn(3, 4)]]
    yield "einsum_turned", "einsum", lambda: ["bij,bkj->kbi", [randn(2, 3, 4), randn(2, 5, 4)]]
    yield "einsum_implicit", "einsum", lambda: ["ba,cb", [randn(2, 3), randn(4, 2)]]
    yield "einsum_three", "einsum", lambda: [
        "ij,jk,kl->il", [randn(2, 3), randn(3, 4), randn(4, 2)]]
    yield "einsum_sum", "einsum", lambda: ["ij,j->", [randn(2, 3), randn(3)]]
    yield "outer", "outer", lambda: [randn(3), randn(4)]
    yield "pixel_shuffle", "pixel_shuffle", lambda: [randn(2, 8, 2, 3), 2]
    yield "vstack", "vstack", lambda: [[randn(3), randn(2, 3)]]
    yield "hstack", "hstack", lambda: [[randn(2, 1), randn(2, 3)]]
