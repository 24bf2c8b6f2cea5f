"""A convolutional GAN: two networks, two optimizers, fakes that are detached for one of them."""
import torch
from torch import nn

LATENT, SIZE = 100, 64


def up(inputs, outputs, stride=2, padding=1):
    return [nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False),
            nn.BatchNorm2d(outputs), nn.ReLU(True)]


def down(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False),
            nn.BatchNorm2d(outputs), nn.LeakyReLU(0.2, inplace=True)]


generator = nn.Sequential(*up(LATENT, 512, 1, 0), *up(512, 256), *up(256, 128), *up(128, 64),
                          nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh()).cuda()
critic = nn.Sequential(*down(3, 64), *down(64, 128), *down(128, 256), *down(256, 512),
                       nn.Conv2d(512, 1, 4), nn.Flatten()).cuda()
generator_steps = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
critic_steps = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()

for step in range(3):
    real = torch.randn(128, 3, SIZE, SIZE, device="cuda")
    fake = generator(torch.randn(128, LATENT, 1, 1, device="cuda"))
    assert fake.shape == real.shape
    critic_steps.zero_grad()
    ones, zeros = torch.ones(128, 1, device="cuda"), torch.zeros(128, 1, device="cuda")
    loss = criterion(critic(real), ones) + criterion(critic(fake.detach()), zeros)
    loss.backward()
    critic_steps.step()
    generator_steps.zero_grad()
    criterion(critic(fake), ones).backward()
    generator_steps.step()
    assert all(p.grad is not None for p in generator.parameters())

weights = sum(p.numel() * 4 for n in (generator, critic) for p in n.parameters())
assert torch.cuda.memory_allocated() > 4 * weights
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
