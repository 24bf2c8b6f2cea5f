"""Values as text, so that ohm sweep compares them between runs: equal bits bring equal texts.

On a virtual GPU bits are known or not (ohm_known.py): the text of a value that no kernel has computed
holds `NOT_COMPUTED`, and ohm sweep does not compare it."""
import hashlib

import ohm_values

NOT_COMPUTED = "<not computed>"


def text_of(value, torch):
    """`torch` is None before it is imported."""
    if torch is not None and isinstance(value, torch.Tensor):
        return f"tensor({str(value.dtype)[6:]}, {list(value.shape)}, {_digest(value, torch)})"
    if isinstance(value, dict):
        pairs = (f"{key!r}: {text_of(item, torch)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__"):
        return "[" + ", ".join(text_of(item, torch) for item in value) + "]"
    return NOT_COMPUTED if ohm_values.is_unknown(value) else repr(value)


def _digest(tensor, torch):
    if ohm_values.is_unknown(tensor):
        return NOT_COMPUTED
    whole = tensor.detach().cpu().contiguous()
    content = whole.flatten().view(torch.uint8).numpy().tobytes() if whole.numel() else b""
    return hashlib.blake2b(content, digest_size=8).hexdigest()
