import torch
from torch import nn
import torch.nn.functional as F


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x, edges, nodes):
        row, col = edges[0], edges[1]
        deg = torch.zeros(nodes, device=x.device).scatter_add_(0, col, torch.ones(col.size(0), device=x.device))
        dis = deg.pow(-0.5)
        dis = dis.masked_fill(dis == float("inf"), 0)
        norm = dis[row] * dis[col]
        x = self.lin(x)
        messages = x.index_select(0, row) * norm.view(-1, 1)
        out = torch.zeros(nodes, x.size(1), device=x.device)
        out.index_add_(0, col, messages)
        return out + self.bias


class GraphAttention(nn.Module):
    def __init__(self, inputs, outputs, heads):
        super().__init__()
        self.heads, self.outputs = heads, outputs
        self.lin = nn.Linear(inputs, heads * outputs)
        self.att_src = nn.Parameter(torch.randn(1, heads, outputs))
        self.att_dst = nn.Parameter(torch.randn(1, heads, outputs))

    def forward(self, x, edges, nodes):
        row, col = edges[0], edges[1]
        h = self.lin(x).view(-1, self.heads, self.outputs)
        a_src = (h * self.att_src).sum(dim=-1)
        a_dst = (h * self.att_dst).sum(dim=-1)
        alpha = F.leaky_relu(a_src[row] + a_dst[col], 0.2)
        alpha = (alpha - alpha.max()).exp()
        total = torch.zeros(nodes, self.heads, device=x.device).index_add(0, col, alpha)
        alpha = alpha / (total[col] + 1e-16)
        out = torch.zeros(nodes, self.heads, self.outputs, device=x.device)
        out = out.index_add(0, col, h[row] * alpha.unsqueeze(-1))
        return out.flatten(1)


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GraphConv(32, 64)
        self.conv2 = GraphAttention(64, 16, 4)
        self.out = nn.Linear(64, 7)

    def forward(self, x, edges):
        nodes = x.size(0)
        x = F.relu(self.conv1(x, edges, nodes))
        x = F.dropout(x, p=0.5, training=self.training)
        x = F.elu(self.conv2(x, edges, nodes))
        return F.log_softmax(self.out(x), dim=1)


model = GNN().cuda()
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
x = torch.randn(200, 32, device="cuda")
edges = torch.randint(0, 200, (2, 800), device="cuda")
y = torch.randint(0, 7, (200,), device="cuda")
train = torch.arange(140, device="cuda")
mark("graph")
for step in range(3):
    model.train()
    opt.zero_grad()
    out = model(x, edges)
    loss = F.nll_loss(out[train], y[train])
    mark(f"forward {step}")
    loss.backward()
    opt.step()
    mark(f"step {step}")
model.eval()
with torch.no_grad():
    pred = model(x, edges).argmax(dim=1)
    acc = (pred[140:] == y[140:]).sum().item() / 60
mark("eval")
