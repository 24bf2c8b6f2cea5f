import torch
from torch import nn
import torch.nn.functional as F


class SAGEConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin_l = nn.Linear(i, o)
        self.lin_r = nn.Linear(i, o, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        out = torch.zeros(x.size(0), x.size(1), device=x.device)
        out = out.scatter_reduce(0, dst.unsqueeze(-1).expand(-1, x.size(1)), x[src], reduce="mean", include_self=False)
        out = self.lin_l(out) + self.lin_r(x)
        return F.normalize(out, p=2.0, dim=-1)


class GINConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.nn = nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU(), nn.Linear(o, o), nn.ReLU())

    def forward(self, x, edge_index):
        src, dst = edge_index
        agg = torch.zeros_like(x).index_add_(0, dst, x.index_select(0, src))
        return self.nn((1 + self.eps) * x + agg)


class RGCNConv(nn.Module):
    def __init__(self, i, o, relations, bases):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(bases, i, o))
        self.comp = nn.Parameter(torch.empty(relations, bases))
        self.root = nn.Parameter(torch.empty(i, o))
        self.bias = nn.Parameter(torch.zeros(o))
        nn.init.xavier_uniform_(self.weight)
        nn.init.xavier_uniform_(self.comp)
        nn.init.xavier_uniform_(self.root)

    def forward(self, x, edge_index, edge_type):
        src, dst = edge_index
        weight = (self.comp @ self.weight.view(self.weight.size(0), -1)).view(-1, x.size(1), self.root.size(1))
        msg = torch.bmm(x[src].unsqueeze(1), weight[edge_type]).squeeze(1)
        count = torch.zeros(x.size(0), device=x.device).scatter_add_(0, dst, torch.ones(dst.size(0), device=x.device)).clamp_(min=1)
        out = torch.zeros(x.size(0), msg.size(1), device=x.device)
        out.index_add_(0, dst, msg / count[dst].unsqueeze(-1))
        return out + x @ self.root + self.bias


class EdgeAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h, self.d = heads, d // heads
        self.lin = nn.Linear(d, d, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, d // heads) * 0.1)
        self.att_dst = nn.Parameter(torch.randn(1, heads, d // heads) * 0.1)

    def forward(self, x, edge_index):
        src, dst = edge_index
        n = x.size(0)
        h = self.lin(x).view(-1, self.h, self.d)
        a_src = (h * self.att_src).sum(-1)
        a_dst = (h * self.att_dst).sum(-1)
        alpha = F.leaky_relu(a_src[src] + a_dst[dst], 0.2)
        index = dst.view(-1, 1).expand_as(alpha)
        top = torch.full((n, self.h), float("-inf"), device=x.device).scatter_reduce(0, index, alpha.detach(), reduce="amax")
        alpha = (alpha - top[dst]).exp()
        total = torch.zeros(n, self.h, device=x.device).scatter_add(0, index, alpha)
        alpha = F.dropout(alpha / (total[dst] + 1e-16), p=0.6, training=self.training)
        out = torch.zeros(n, self.h, self.d, device=x.device)
        out = out.index_add(0, dst, h[src] * alpha.unsqueeze(-1))
        return out.reshape(n, -1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.sage = SAGEConv(16, 32)
        self.gin = GINConv(32, 32)
        self.rgcn = RGCNConv(32, 32, 3, 2)
        self.gat = EdgeAttention(32, 4)
        self.phi = nn.Sequential(nn.Linear(32, 32), nn.ELU(inplace=True), nn.Linear(32, 32))
        self.rho = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x, edge_index, edge_type, batch, graphs):
        x = F.relu(self.sage(x, edge_index))
        x = self.gin(x, edge_index)
        x = F.relu(self.rgcn(x, edge_index, edge_type))
        x = F.elu(self.gat(x, edge_index))
        x = self.phi(x)
        mean = torch.zeros(graphs, 32, device=x.device).index_reduce(0, batch, x, "mean", include_self=False)
        top = torch.zeros(graphs, 32, device=x.device).scatter_reduce(0, batch[:, None].expand(-1, 32), x, "amax", include_self=False)
        return self.rho(torch.cat([mean, top], dim=1))


model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
mark("model")
for epoch in range(3):
    x = torch.randn(50, 16, device="cuda")
    edge_index = torch.randint(0, 50, (2, 170), device="cuda")
    edge_type = torch.randint(0, 3, (170,), device="cuda")
    batch = torch.arange(50, device="cuda") // 10
    y = torch.randint(0, 4, (5,), device="cuda")
    model.train()
    optimizer.zero_grad()
    out = model(x, edge_index, edge_type, batch, 5)
    loss = F.nll_loss(F.log_softmax(out, dim=1), y)
    loss.backward()
    optimizer.step()
    mark(f"epoch {epoch}")
