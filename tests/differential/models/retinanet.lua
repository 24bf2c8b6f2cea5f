local anchors, classes, Backbone, FPN, Head, RetinaNet, focal_loss, giou_loss, model, optimizer, x, cls, box, total, labels, gt, onehot, positive, num, cls_loss, reg, reg_loss, iou, loss, scores, top, idx, which, label, boxes
ohm.backends.cudnn.enabled = true
anchors, classes = 3, 8
Backbone = nn.Module:extend("Backbone")
function Backbone:__init()
  self.c2 = nn.Sequential(nn.Conv2d(3, 16, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(16), nn.ReLU({inplace = true}))
  self.c3 = nn.Sequential(nn.Conv2d(16, 32, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(32), nn.ReLU({inplace = true}))
  self.c4 = nn.Sequential(nn.Conv2d(32, 64, 3, {stride = 2, padding = 1}), nn.BatchNorm2d(64), nn.ReLU({inplace = true}))
end
function Backbone:forward(x)
  local c2, c3, c4
  c2 = self.c2(x)
  c3 = self.c3(c2)
  c4 = self.c4(c3)
  return c2, c3, c4
end
FPN = nn.Module:extend("FPN")
function FPN:__init(dim)
  if dim == nil then dim = 32 end
  self.lat2 = nn.Conv2d(16, dim, 1)
  self.lat3 = nn.Conv2d(32, dim, 1)
  self.lat4 = nn.Conv2d(64, dim, 1)
  self.out2 = nn.Conv2d(dim, dim, 3, {padding = 1})
  self.out3 = nn.Conv2d(dim, dim, 3, {padding = 1})
  self.out4 = nn.Conv2d(dim, dim, 3, {padding = 1})
  self.p6 = nn.Conv2d(dim, dim, 3, {stride = 2, padding = 1})
end
function FPN:forward(c2, c3, c4)
  local p4, p3, p2, p5
  p4 = self.lat4(c4)
  p3 = self.lat3(c3) + F.interpolate(p4, {size = {c3:size(-2), c3:size(-1)}, mode = "nearest"})
  p2 = self.lat2(c2) + F.interpolate(p3, {size = {c2:size(-2), c2:size(-1)}, mode = "nearest"})
  p2 = self.out2(p2)
  p3 = self.out3(p3)
  p4 = self.out4(p4)
  p5 = self.p6(F.relu(p4))
  return {p2, p3, p4, p5}
end
Head = nn.Module:extend("Head")
function Head:__init(dim, out)
  self.tower = nn.Sequential(nn.Conv2d(dim, dim, 3, {padding = 1}), nn.GroupNorm(8, dim), nn.ReLU(), nn.Conv2d(dim, dim, 3, {padding = 1}), nn.GroupNorm(8, dim), nn.ReLU())
  self.pred = nn.Conv2d(dim, anchors * out, 3, {padding = 1})
  self.out = out
end
function Head:forward(features)
  local outs, f, y, n, _, h, w
  outs = {}
  for _, item1 in ipairs(features) do
    f = item1
    y = self.pred(self.tower(f))
    n, _, h, w = table.unpack(y.shape)
    y = y:view(n, -1, self.out, h, w)
    y = y:permute(0, 3, 4, 1, 2)
    y = y:reshape(n, -1, self.out)
    outs[#outs + 1] = y
  end
  return ohm.cat(outs, {dim = 1})
end
RetinaNet = nn.Module:extend("RetinaNet")
function RetinaNet:__init()
  self.backbone = Backbone()
  self.fpn = FPN()
  self.cls = Head(32, classes)
  self.box = Head(32, 4)
end
function RetinaNet:forward(x)
  local c2, c3, c4, features, cls, box
  c2, c3, c4 = self.backbone(x)
  features = self.fpn(c2, c3, c4)
  cls = self.cls(features)
  box = self.box(features)
  return cls, box
end
function focal_loss(logits, targets, alpha, gamma)
  local p, ce, p_t, loss, alpha_t
  if gamma == nil then gamma = 2.0 end
  if alpha == nil then alpha = 0.25 end
  p = ohm.sigmoid(logits)
  ce = F.binary_cross_entropy_with_logits(logits, targets, {reduction = "none"})
  p_t = (p * targets) + ((1 - p) * (1 - targets))
  loss = ce * ((1 - p_t) ^ gamma)
  alpha_t = (alpha * targets) + ((1 - alpha) * (1 - targets))
  return (alpha_t * loss):sum()
end
function giou_loss(pred, target)
  local x1, y1, x2, y2, inter, area_p, area_t, union, iou, lt, rb, wh, area_c
  x1 = ohm.max(pred:select(-1, 0), target:select(-1, 0))
  y1 = ohm.max(pred:select(-1, 1), target:select(-1, 1))
  x2 = ohm.min(pred:select(-1, 2), target:select(-1, 2))
  y2 = ohm.min(pred:select(-1, 3), target:select(-1, 3))
  inter = (x2 - x1):clamp({min = 0}) * (y2 - y1):clamp({min = 0})
  area_p = (pred:select(-1, 2) - pred:select(-1, 0)) * (pred:select(-1, 3) - pred:select(-1, 1))
  area_t = (target:select(-1, 2) - target:select(-1, 0)) * (target:select(-1, 3) - target:select(-1, 1))
  union = (area_p + area_t) - inter
  iou = inter / (union + 1e-07)
  lt = ohm.min(slice(pred, -1, 0, 2), slice(target, -1, 0, 2))
  rb = ohm.max(slice(pred, -1, 2), slice(target, -1, 2))
  wh = (rb - lt):clamp({min = 0})
  area_c = wh:select(-1, 0) * wh:select(-1, 1)
  return (1 - iou) + ((area_c - union) / (area_c + 1e-07))
end
model = RetinaNet():cuda()
nn.init.constant_(model.cls.pred.bias, -math.log(99))
optimizer = ohm.optim.SGD(model:parameters(), {lr = 0.01, momentum = 0.9, weight_decay = 0.0001})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(2, 3, 40, 40, {device = "cuda"})
  do
    local new1, new2 = model(x)
    cls = new1
    box = new2
  end
  mark("forward " .. step)
  total = cls:size(1)
  labels = ohm.randint(0, classes + 1, {2, total}, {device = "cuda"})
  gt = ohm.rand(2, total, 4, {device = "cuda"})
  onehot = slice(F.one_hot(labels, classes + 1), -1, 0, classes):float()
  positive = (labels:lt(classes)):float()
  num = positive:sum():clamp({min = 1.0})
  cls_loss = focal_loss(cls, onehot) / num
  reg = F.smooth_l1_loss(box, gt, {reduction = "none", beta = 0.11}):sum(-1)
  reg_loss = (reg * positive):sum() / num
  iou = (giou_loss(box:float(), gt) * positive):sum() / num
  loss = (cls_loss + reg_loss) + iou
  optimizer:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), {max_norm = 10.0, norm_type = 2})
  optimizer:step()
  mark("step " .. step)
end
model:eval()
do
  local mode2 <close> = ohm.no_grad()
  do
    local new1, new2 = model(x)
    cls = new1
    box = new2
  end
  scores = cls:sigmoid():flatten(1)
  top, idx = scores:topk(20, {dim = 1})
  which = idx // classes
  label = idx % classes
  boxes = ohm.gather(box, 1, which:unsqueeze(-1):expand(-1, -1, 4))
  boxes = boxes:clamp_(0, 40)
end
mark("detected")
mark("end of program (globals alive)")
model = nil
optimizer = nil
x = nil
cls = nil
box = nil
total = nil
labels = nil
gt = nil
onehot = nil
positive = nil
num = nil
cls_loss = nil
reg = nil
reg_loss = nil
iou = nil
loss = nil
scores = nil
top = nil
idx = nil
which = nil
label = nil
boxes = nil
mark("globals deleted")
