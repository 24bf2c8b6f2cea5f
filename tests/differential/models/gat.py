import torch
from torch import nn
import torch.nn.functional as F


class GATLayer(nn.Module):
    def __init__(self, dim_in, dim_out, heads, concat=True):
        super().__init__()
        self.heads = heads
        self.dim = dim_out
        self.concat = concat
        self.lin = nn.Linear(dim_in, heads * dim_out, bias=False)
        self.att_src = nn.Parameter(torch.empty(1, heads, dim_out))
        self.att_dst = nn.Parameter(torch.empty(1, heads, dim_out))
        nn.init.xavier_uniform_(self.att_src)
        nn.init.xavier_uniform_(self.att_dst)

    def forward(self, x, edge_index):
        n = x.size(0)
        h = self.lin(x).view(n, self.heads, self.dim)
        a_src = (h * self.att_src).sum(-1)
        a_dst = (h * self.att_dst).sum(-1)
        src, dst = edge_index
        e = F.leaky_relu(a_src[src] + a_dst[dst], 0.2)
        index = dst.unsqueeze(-1).expand_as(e)
        e_max = torch.zeros(n, self.heads, device="cuda").scatter_reduce(0, index, e, reduce="amax", include_self=False)
        e = (e - e_max[dst]).exp()
        denom = torch.zeros(n, self.heads, device="cuda").scatter_add_(0, index, e)
        alpha = e / (denom[dst] + 1e-16)
        alpha = F.dropout(alpha, 0.4, self.training)
        out = torch.zeros_like(h)
        out.index_add_(0, dst, h[src] * alpha.unsqueeze(-1))
        if self.concat:
            return out.view(n, self.heads * self.dim)
        return out.mean(dim=1)


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GATLayer(96, 16, 4)
        self.conv2 = GATLayer(64, 7, 2, concat=False)
        self.skip = nn.Linear(64, 7)

    def forward(self, x, edge_index):
        x = F.dropout(x, 0.5, self.training)
        x = F.elu(self.conv1(x, edge_index))
        x = F.dropout(x, 0.5, self.training)
        return self.conv2(x, edge_index) + self.skip(x)


nodes, edges = 150, 800
model = GAT().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)
x = torch.randn(nodes, 96, device="cuda")
edge_index = torch.randint(0, nodes, (2, edges), device="cuda")
loops = torch.arange(nodes, device="cuda").unsqueeze(0).repeat(2, 1)
edge_index = torch.cat([edge_index, loops], dim=1)
labels = torch.randint(0, 7, (nodes,), device="cuda")
order = torch.randperm(nodes, device="cuda")
train_idx = order[:100]
val_idx = order[100:]
mark("graph")
for epoch in range(3):
    model.train()
    optimizer.zero_grad()
    out = model(x, edge_index)
    loss = F.cross_entropy(out[train_idx], labels[train_idx])
    loss.backward()
    optimizer.step()
    mark(f"trained {epoch}")
    model.eval()
    with torch.no_grad():
        logits = model(x, edge_index)
        pred = logits[val_idx].argmax(dim=-1)
        acc = (pred == labels[val_idx]).float().mean().item()
    mark(f"evaluated {epoch}")
