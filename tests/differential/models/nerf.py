import torch
from torch import nn
import torch.nn.functional as F

n_rays, n_coarse, n_fine, chunk = 48, 16, 16, 1024


class Embedder(nn.Module):
    def __init__(self, n_freqs):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.linspace(0.0, n_freqs - 1, n_freqs))

    def forward(self, x):
        scaled = x[..., None, :] * self.freqs[:, None]
        scaled = scaled.reshape(x.shape[0], -1)
        return torch.cat([x, torch.sin(scaled), torch.cos(scaled)], dim=-1)


class NeRF(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.embed_x = Embedder(10)
        self.embed_d = Embedder(4)
        self.first = nn.Sequential(nn.Linear(63, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.second = nn.Sequential(nn.Linear(width + 63, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma = nn.Linear(width, 1)
        self.feature = nn.Linear(width, width)
        self.color = nn.Sequential(nn.Linear(width + 27, width // 2), nn.ReLU(), nn.Linear(width // 2, 3))

    def forward(self, x, d):
        ex = self.embed_x(x)
        h = self.first(ex)
        h = self.second(torch.cat([h, ex], -1))
        sigma = self.sigma(h)
        rgb = self.color(torch.cat([self.feature(h), self.embed_d(d)], -1))
        return torch.cat([rgb, sigma], -1)


def run_network(model, pts, dirs):
    flat = torch.reshape(pts, [-1, 3])
    d = dirs[:, None].expand(pts.shape)
    flat_d = torch.reshape(d, [-1, 3])
    outs = []
    for i in range(0, flat.shape[0], chunk):
        outs.append(model(flat[i : i + chunk], flat_d[i : i + chunk]))
    out = torch.cat(outs, 0)
    return torch.reshape(out, [pts.shape[0], pts.shape[1], 4])


def raw2outputs(raw, z, dirs):
    dists = z[..., 1:] - z[..., :-1]
    far = torch.full_like(dists[..., :1], 1e10)
    dists = torch.cat([dists, far], -1)
    dists = dists * torch.norm(dirs[..., None, :], dim=-1)
    rgb = torch.sigmoid(raw[..., :3])
    noise = torch.randn(raw[..., 3].shape, device="cuda") * 0.1
    alpha = 1.0 - torch.exp(-F.relu(raw[..., 3] + noise) * dists)
    ones = torch.ones((alpha.shape[0], 1), device="cuda")
    trans = torch.cumprod(torch.cat([ones, 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * trans
    rgb_map = torch.sum(weights[..., None] * rgb, -2)
    depth = torch.sum(weights * z, -1)
    acc = torch.sum(weights, -1)
    rgb_map = rgb_map + (1.0 - acc[..., None])
    return rgb_map, weights, depth


def sample_pdf(bins, weights, n):
    weights = weights + 1e-5
    pdf = weights / torch.sum(weights, -1, keepdim=True)
    cdf = torch.cumsum(pdf, -1)
    cdf = torch.cat([torch.zeros_like(cdf[..., :1]), cdf], -1)
    u = torch.rand(cdf.shape[0], n, device="cuda")
    inds = torch.searchsorted(cdf, u, right=True)
    below = torch.clamp(inds - 1, min=0)
    above = torch.clamp(inds, max=cdf.shape[-1] - 1)
    inds_g = torch.stack([below, above], -1)
    cdf_g = torch.gather(cdf.unsqueeze(1).expand(cdf.shape[0], n, cdf.shape[1]), 2, inds_g)
    bins_g = torch.gather(bins.unsqueeze(1).expand(bins.shape[0], n, bins.shape[1]), 2, inds_g)
    denom = cdf_g[..., 1] - cdf_g[..., 0]
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    t = (u - cdf_g[..., 0]) / denom
    return bins_g[..., 0] + t * (bins_g[..., 1] - bins_g[..., 0])


def render(coarse, fine, rays_o, rays_d):
    viewdirs = rays_d / torch.norm(rays_d, dim=-1, keepdim=True)
    t_vals = torch.linspace(0.0, 1.0, n_coarse, device="cuda")
    z = 2.0 * (1.0 - t_vals) + 6.0 * t_vals
    z = z.expand([rays_o.shape[0], n_coarse])
    mids = 0.5 * (z[..., 1:] + z[..., :-1])
    upper = torch.cat([mids, z[..., -1:]], -1)
    lower = torch.cat([z[..., :1], mids], -1)
    z = lower + (upper - lower) * torch.rand(z.shape, device="cuda")
    pts = rays_o[..., None, :] + rays_d[..., None, :] * z[..., :, None]
    raw = run_network(coarse, pts, viewdirs)
    rgb0, weights, depth0 = raw2outputs(raw, z, rays_d)
    mid = 0.5 * (z[..., 1:] + z[..., :-1])
    z_fine = sample_pdf(mid, weights[..., 1:-1], n_fine).detach()
    z, _ = torch.sort(torch.cat([z, z_fine], -1), -1)
    pts = rays_o[..., None, :] + rays_d[..., None, :] * z[..., :, None]
    raw = run_network(fine, pts, viewdirs)
    rgb, weights, depth = raw2outputs(raw, z, rays_d)
    return rgb, rgb0, depth


coarse = NeRF().cuda()
fine = NeRF().cuda()
optimizer = torch.optim.Adam(list(coarse.parameters()) + list(fine.parameters()), lr=5e-4)
images = torch.rand(4, 16, 16, 3, device="cuda")
mark("models")
for step in range(3):
    rays_o = torch.randn(n_rays, 3, device="cuda")
    rays_d = torch.randn(n_rays, 3, device="cuda")
    target = images[step].reshape(-1, 3)[:n_rays]
    rgb, rgb0, depth = render(coarse, fine, rays_o, rays_d)
    mark(f"rendered {step}")
    loss = torch.mean((rgb - target) ** 2)
    psnr = -10.0 * torch.log(loss.detach()) / 2.302585
    loss = loss + torch.mean((rgb0 - target) ** 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mark(f"step {step}")
with torch.no_grad():
    rgbs = []
    for i in range(3):
        rgb, _, _ = render(coarse, fine, rays_o, rays_d)
        rgbs.append(rgb.cpu())
mark("test views")
