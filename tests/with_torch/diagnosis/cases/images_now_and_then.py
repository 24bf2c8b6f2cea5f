import torch
from torch import nn

generator = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 784)).cuda()
critic = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1)).cuda()
g_opt = torch.optim.Adam(generator.parameters())
d_opt = torch.optim.Adam(critic.parameters())
img_list = []
fixed_noise = torch.randn(2048, 128, device="cuda")
for i in range(300):
    noise = torch.randn(512, 128, device="cuda")
    fake = generator(noise)
    d_loss = critic(fake.detach()).mean() - critic(torch.randn(512, 784, device="cuda")).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    g_loss = -critic(fake).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    if i % 2 == 0:
        img_list.append(generator(fixed_noise))
