"""Tensors that hold their values in others: sparse ones, and those of rows of different lengths
(nested). Each has parts, which are plain tensors, and a twin on the host whose parts lie on the same
memory."""


def is_plain(torch, tensor):
    return tensor.layout is torch.strided and not tensor.is_nested and not tensor.is_quantized


def parts_of(torch, tensor):
    """The plain tensors that hold its values. None where they are not to be had (quantized)."""
    if is_plain(torch, tensor):
        return [tensor]
    if tensor.is_nested:
        return [tensor.values()] if tensor.layout is torch.strided else None
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return None


def twin_of(torch, tensor, alias):
    """alias(plain tensor): one of the host on its memory. Raises ValueError where there is none."""
    parts = parts_of(torch, tensor)
    if parts is None:
        raise ValueError(f"no values of the host for {tensor.layout}, {tensor.dtype}")
    on_host = [alias(part) for part in parts]
    if tensor.is_nested:
        return torch._nested_view_from_buffer(
            on_host[0], tensor._nested_tensor_size(), tensor._nested_tensor_strides(),
            tensor._nested_tensor_storage_offsets())
    if tensor.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(*on_host, tensor.size(), check_invariants=False,
                                       is_coalesced=tensor.is_coalesced())
    return torch.sparse_compressed_tensor(*on_host, tensor.size(), layout=tensor.layout,
                                          check_invariants=False)


def pairs_of_parts(torch, tensor, value):
    """(plain tensor, its value) of a result and what the host computed for it."""
    if is_plain(torch, tensor):
        if tensor.layout is not value.layout:
            value = value.to_dense()
        return [(tensor, value)]
    parts, values = parts_of(torch, tensor), parts_of(torch, value)
    if parts is None or values is None or tensor.layout is not value.layout:
        raise ValueError(f"no values of the host for {tensor.layout}, {tensor.dtype}")
    if tensor.layout is torch.sparse_coo and value.is_coalesced() != tensor.is_coalesced():
        tensor._coalesced_(value.is_coalesced())
    return list(zip(parts, values))


def count_of(torch, value):
    """How many elements a sparse value of the host has; None: it is none."""
    if isinstance(value, torch.Tensor) and value.layout is not torch.strided:
        return value._nnz()
    return None
