import torch
from torch import nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, num_layers):
        super().__init__()
        self.num_layers = num_layers
        h = [hidden_dim] * (num_layers - 1)
        self.layers = nn.ModuleList([nn.Linear(n, k) for n, k in zip([input_dim] + h, h + [output_dim])])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = F.relu(layer(x)) if i < self.num_layers - 1 else layer(x)
        return x


class DETR(nn.Module):
    def __init__(self, classes=7, hidden=64, queries=10):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 7, 4, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 48, 3, 2, 1), nn.BatchNorm2d(48), nn.ReLU())
        self.input_proj = nn.Conv2d(48, hidden, 1)
        self.transformer = nn.Transformer(hidden, 4, 2, 2, dim_feedforward=128, dropout=0.1)
        self.class_embed = nn.Linear(hidden, classes + 1)
        self.bbox_embed = MLP(hidden, hidden, 4, 3)
        self.query_pos = nn.Parameter(torch.rand(queries, hidden))
        self.row_embed = nn.Parameter(torch.rand(50, hidden // 2))
        self.col_embed = nn.Parameter(torch.rand(50, hidden // 2))

    def forward(self, x):
        h = self.input_proj(self.backbone(x))
        B, C, H, W = h.shape
        pos = torch.cat([
            self.col_embed[:W].unsqueeze(0).repeat(H, 1, 1),
            self.row_embed[:H].unsqueeze(1).repeat(1, W, 1),
        ], dim=-1).flatten(0, 1).unsqueeze(1)
        src = pos + 0.1 * h.flatten(2).permute(2, 0, 1)
        h = self.transformer(src, self.query_pos.unsqueeze(1).repeat(1, B, 1)).transpose(0, 1)
        return self.class_embed(h), self.bbox_embed(h).sigmoid()


def box_cxcywh_to_xyxy(x):
    cx, cy, w, h = x.unbind(-1)
    b = [(cx - 0.5 * w), (cy - 0.5 * h), (cx + 0.5 * w), (cy + 0.5 * h)]
    return torch.stack(b, dim=-1)


def giou_pairs(a, b):
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    wh = (torch.min(a[:, 2:], b[:, 2:]) - torch.max(a[:, :2], b[:, :2])).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    union = area_a + area_b - inter
    whc = (torch.max(a[:, 2:], b[:, 2:]) - torch.min(a[:, :2], b[:, :2])).clamp(min=0)
    hull = whc[:, 0] * whc[:, 1]
    return inter / union - (hull - union) / hull


model = DETR().cuda()
weight = torch.ones(8, device="cuda")
weight[-1] = 0.1
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-4)
mark("model")
for step in range(3):
    x = torch.randn(2, 3, 64, 64, device="cuda")
    logits, boxes = model(x)
    labels = torch.randint(0, 7, (6,), device="cuda")
    gt = torch.rand(6, 4, device="cuda")
    with torch.no_grad():
        prob = logits.flatten(0, 1).softmax(-1)
        cost_class = -prob[:, labels]
        cost_bbox = torch.cdist(boxes.flatten(0, 1), gt, p=1)
        cost = (5 * cost_bbox + cost_class).view(2, 10, -1).cpu()
    mark(f"cost {step}")
    batch_idx = torch.tensor([0, 0, 0, 1, 1, 1], device="cuda")
    src_idx = torch.tensor([0, 3, 5, 1, 2, 9], device="cuda")
    target_classes = torch.full((2, 10), 7, dtype=torch.int64, device="cuda")
    target_classes[batch_idx, src_idx] = labels
    loss_ce = F.cross_entropy(logits.transpose(1, 2), target_classes, weight)
    src_boxes = boxes[batch_idx, src_idx]
    loss_bbox = F.l1_loss(src_boxes, gt, reduction="none").sum() / 6
    loss_giou = (1 - giou_pairs(box_cxcywh_to_xyxy(src_boxes), box_cxcywh_to_xyxy(gt))).sum() / 6
    losses = loss_ce + 5 * loss_bbox + 2 * loss_giou
    optimizer.zero_grad()
    losses.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    mark(f"step {step}")
