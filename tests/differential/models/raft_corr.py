import torch
import torch.nn as nn
import torch.nn.functional as F




class Encoder(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 7, stride=2, padding=3)
        self.norm1 = nn.InstanceNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.norm2 = nn.InstanceNorm2d(32)
        self.conv3 = nn.Conv2d(32, out, 1)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        return self.conv3(x)


class ConvGRU(nn.Module):
    def __init__(self, hidden, inp):
        super().__init__()
        self.convz = nn.Conv2d(hidden + inp, hidden, 3, padding=1)
        self.convr = nn.Conv2d(hidden + inp, hidden, 3, padding=1)
        self.convq = nn.Conv2d(hidden + inp, hidden, 3, padding=1)

    def forward(self, h, x):
        hx = torch.cat([h, x], dim=1)
        z = torch.sigmoid(self.convz(hx))
        r = torch.sigmoid(self.convr(hx))
        q = torch.tanh(self.convq(torch.cat([r * h, x], dim=1)))
        h = (1 - z) * h + z * q
        return h


def coords_grid(batch, ht, wd, device):
    coords = torch.meshgrid(torch.arange(ht, device=device), torch.arange(wd, device=device), indexing="ij")
    coords = torch.stack([coords[1], coords[0]], dim=0).float()
    return coords[None].repeat(batch, 1, 1, 1)


def lookup(pyramid, coords, radius):
    coords = coords.permute(0, 2, 3, 1)
    batch, h1, w1, _ = coords.shape
    out = []
    for i in range(len(pyramid)):
        corr = pyramid[i]
        dx = torch.linspace(-radius, radius, 2 * radius + 1, device=coords.device)
        dy = torch.linspace(-radius, radius, 2 * radius + 1, device=coords.device)
        gy, gx = torch.meshgrid(dy, dx, indexing="ij")
        delta = torch.stack([gy, gx], dim=-1)
        centroid = coords.reshape(batch * h1 * w1, 1, 1, 2) / 2 ** i
        where = centroid + delta.view(1, 2 * radius + 1, 2 * radius + 1, 2)
        H, W = corr.shape[2], corr.shape[3]
        xgrid, ygrid = where.split([1, 1], dim=-1)
        xgrid = 2 * xgrid / (W - 1) - 1
        ygrid = 2 * ygrid / (H - 1) - 1
        corr = F.grid_sample(corr, torch.cat([xgrid, ygrid], dim=-1), align_corners=True)
        out.append(corr.view(batch, h1, w1, -1))
    return torch.cat(out, dim=-1).permute(0, 3, 1, 2).contiguous().float()


class RAFT(nn.Module):
    def __init__(self, radius=2, levels=2):
        super().__init__()
        self.radius, self.levels = radius, levels
        self.fnet = Encoder(32)
        self.cnet = Encoder(48)
        self.motion = nn.Conv2d(levels * (2 * radius + 1) ** 2 + 2, 24, 3, padding=1)
        self.gru = ConvGRU(24, 48)
        self.flow_head = nn.Conv2d(24, 2, 3, padding=1)

    def forward(self, image1, image2, iters):
        fmap1 = self.fnet(image1)
        fmap2 = self.fnet(image2)
        b, c, h, w = fmap1.shape
        corr = torch.matmul(fmap1.view(b, c, h * w).transpose(1, 2), fmap2.view(b, c, h * w))
        corr = corr.view(b * h * w, 1, h, w) / torch.sqrt(torch.tensor(c).float())
        pyramid = [corr]
        for i in range(self.levels - 1):
            corr = F.avg_pool2d(corr, 2, stride=2)
            pyramid.append(corr)
        net, inp = torch.split(self.cnet(image1), [24, 24], dim=1)
        net = torch.tanh(net)
        inp = torch.relu(inp)
        coords0 = coords_grid(b, h, w, image1.device)
        coords1 = coords_grid(b, h, w, image1.device)
        predictions = []
        for itr in range(iters):
            coords1 = coords1.detach()
            sampled = lookup(pyramid, coords1, self.radius)
            flow = coords1 - coords0
            m = F.relu(self.motion(torch.cat([sampled, flow], dim=1)))
            net = self.gru(net, torch.cat([inp, m], dim=1))
            coords1 = coords1 + self.flow_head(net)
            predictions.append(4 * F.interpolate(coords1 - coords0, scale_factor=4, mode="bilinear", align_corners=True))
        return predictions


model = RAFT().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=1e-5, eps=1e-8)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-4, 110, pct_start=0.05, cycle_momentum=False, anneal_strategy="linear")
mark("model")
for step in range(2):
    image1 = torch.randn(2, 3, 64, 64, device="cuda")
    image2 = torch.randn(2, 3, 64, 64, device="cuda")
    flow_gt = torch.randn(2, 2, 64, 64, device="cuda")
    valid = torch.ones(2, 64, 64, device="cuda")
    optimizer.zero_grad()
    predictions = model(image1, image2, 3)
    flow_loss = 0.0
    mag = torch.sum(flow_gt ** 2, dim=1).sqrt()
    valid = (valid >= 0.5) & (mag < 400)
    for i in range(3):
        i_weight = 0.8 ** (3 - i - 1)
        i_loss = (predictions[i] - flow_gt).abs()
        flow_loss += i_weight * (valid[:, None] * i_loss).mean()
    flow_loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    mark(f"step {step}")
