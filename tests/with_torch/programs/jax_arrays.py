"""JAX: compiled steps on the card rather than on the CPU, its libraries, and at the end
a card that is full."""
import jax
import jax.numpy as jnp

(device,) = jax.devices()
assert device.platform == "gpu", device


def loss(weights, batch):
    return jnp.mean(jnp.tanh(batch @ weights) ** 2)


@jax.jit
def step(weights, batch):
    return weights - 0.1 * jax.grad(loss)(weights, batch)


weights = jax.random.normal(jax.random.key(0), (256, 256))
batch = jnp.ones((32, 256))
for _ in range(3):
    weights = step(weights, batch)
weights.block_until_ready()
assert weights.devices() == {device}
assert jnp.fft.fft(batch).shape == (32, 256)
assert jnp.linalg.cholesky(jnp.eye(8)).shape == (8, 8)
images, kernels = jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3))
assert jax.lax.conv(images, kernels, (1, 1), "SAME").shape == (1, 4, 8, 8)

memory = device.memory_stats()
before = memory["bytes_in_use"]
kept = jnp.zeros(1 << 28, dtype=jnp.uint8).block_until_ready()
assert device.memory_stats()["bytes_in_use"] - before == kept.nbytes
jnp.zeros(memory["bytes_limit"], dtype=jnp.uint8).block_until_ready()
raise SystemExit("the card is never full")
