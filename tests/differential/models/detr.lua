-- x[i] = value, of a tensor or a list
local function put(x, i, value)
  if not ohm.is_tensor(x) then
    x[type(i) ~= "number" and i or i < 0 and #x + 1 + i or i + 1] = value
  elseif ohm.is_tensor(i) then
    x:index_put_({i}, ohm.is_tensor(value) and value or ohm.tensor(value))
  elseif ohm.is_tensor(value) then
    x:select(0, i):copy_(value)
  else
    x:select(0, i):fill_(value)
  end
end

-- list[a:b]
local function part(x, first, last)
  if ohm.is_tensor(x) then return slice(x, 0, first or 0, last) end
  local size, kept = #x, {}
  first, last = first or 0, last or size
  if first < 0 then first = first + size end
  if last < 0 then last = last + size end
  for i = first + 1, math.min(last, size) do kept[#kept + 1] = x[i] end
  return kept
end

-- list * count
local function times(x, count)
  if type(x) ~= "table" then return x * count end
  local kept = {}
  for i = 1, count do
    for _, one in ipairs(x) do kept[#kept + 1] = one end
  end
  return kept
end

-- a < b and others, of tensors or numbers
local function compare(how, a, b)
  if ohm.is_tensor(a) then return a[how](a, b) end
  if ohm.is_tensor(b) then return b[({lt = "gt", gt = "lt", le = "ge", ge = "le", eq = "eq", ne = "ne"})[how]](b, a) end
  if how == "eq" then return a == b elseif how == "ne" then return a ~= b end
  if how == "lt" then return a < b elseif how == "le" then return a <= b end
  if how == "gt" then return a > b else return a >= b end
end

-- what a loop goes through
local function items(x)
  if ohm.is_tensor(x) then return {x:unbind(0)} end
  return type(x) == "table" and x or x:children()
end

local MLP, DETR, box_cxcywh_to_xyxy, giou_pairs, model, weight, optimizer, x, logits, boxes, labels, gt, prob, cost_class, cost_bbox, cost, batch_idx, src_idx, target_classes, loss_ce, src_boxes, loss_bbox, loss_giou, losses
MLP = nn.Module:extend("MLP")
function MLP:__init(input_dim, hidden_dim, output_dim, num_layers)
  local h
  self.num_layers = num_layers
  h = times({hidden_dim}, num_layers - 1)
  self.layers = nn.ModuleList((function() local r = {} local l0 = items(joined({input_dim}, h)) local l1 = items(joined(h, {output_dim})) for i_ = 1, #l0 do local n = l0[i_] local k = l1[i_] r[#r + 1] = nn.Linear(n, k) end return r end)())
end
function MLP:forward(x)
  local layer
  do
    local list2_0 = items(self.layers:children())
    for number2 = 1, #list2_0 do
      local i = number2 - 1
      layer = list2_0[number2]
      x = (compare("lt", i, self.num_layers - 1) and F.relu(layer(x)) or layer(x))
    end
  end
  return x
end
DETR = nn.Module:extend("DETR")
function DETR:__init(classes, hidden, queries)
  if queries == nil then queries = 10 end
  if hidden == nil then hidden = 64 end
  if classes == nil then classes = 7 end
  self.backbone = nn.Sequential(nn.Conv2d(3, 16, 7, 4, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 48, 3, 2, 1), nn.BatchNorm2d(48), nn.ReLU())
  self.input_proj = nn.Conv2d(48, hidden, 1)
  self.transformer = nn.Transformer(hidden, 4, 2, 2, {dim_feedforward = 128, dropout = 0.1})
  self.class_embed = nn.Linear(hidden, classes + 1)
  self.bbox_embed = MLP(hidden, hidden, 4, 3)
  self.query_pos = nn.Parameter(ohm.rand(queries, hidden))
  self.row_embed = nn.Parameter(ohm.rand(50, hidden // 2))
  self.col_embed = nn.Parameter(ohm.rand(50, hidden // 2))
end
function DETR:forward(x)
  local h, B, C, H, W, pos, src
  h = self.input_proj(self.backbone(x))
  B, C, H, W = table.unpack(h.shape)
  pos = ohm.cat({repeated(part(self.col_embed, nil, W):unsqueeze(0), H, 1, 1), repeated(part(self.row_embed, nil, H):unsqueeze(1), 1, W, 1)}, {dim = -1}):flatten(0, 1):unsqueeze(1)
  src = pos + (0.1 * h:flatten(2):permute(2, 0, 1))
  h = self.transformer(src, repeated(self.query_pos:unsqueeze(1), 1, B, 1)):transpose(0, 1)
  return self.class_embed(h), self.bbox_embed(h):sigmoid()
end
function box_cxcywh_to_xyxy(x)
  local cx, cy, w, h, b
  cx, cy, w, h = x:unbind(-1)
  b = {cx - (0.5 * w), cy - (0.5 * h), cx + (0.5 * w), cy + (0.5 * h)}
  return ohm.stack(b, {dim = -1})
end
function giou_pairs(a, b)
  local area_a, area_b, wh, inter, union, whc, hull
  area_a = (slice(a, 0, 0):select(1, 2) - slice(a, 0, 0):select(1, 0)) * (slice(a, 0, 0):select(1, 3) - slice(a, 0, 0):select(1, 1))
  area_b = (slice(b, 0, 0):select(1, 2) - slice(b, 0, 0):select(1, 0)) * (slice(b, 0, 0):select(1, 3) - slice(b, 0, 0):select(1, 1))
  wh = (ohm.min(slice(slice(a, 0, 0), 1, 2), slice(slice(b, 0, 0), 1, 2)) - ohm.max(slice(slice(a, 0, 0), 1, 0, 2), slice(slice(b, 0, 0), 1, 0, 2))):clamp({min = 0})
  inter = slice(wh, 0, 0):select(1, 0) * slice(wh, 0, 0):select(1, 1)
  union = (area_a + area_b) - inter
  whc = (ohm.max(slice(slice(a, 0, 0), 1, 2), slice(slice(b, 0, 0), 1, 2)) - ohm.min(slice(slice(a, 0, 0), 1, 0, 2), slice(slice(b, 0, 0), 1, 0, 2))):clamp({min = 0})
  hull = slice(whc, 0, 0):select(1, 0) * slice(whc, 0, 0):select(1, 1)
  return (inter / union) - ((hull - union) / hull)
end
model = DETR():cuda()
weight = ohm.ones(8, {device = "cuda"})
put(weight, -1, 0.1)
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0001, weight_decay = 0.0001})
mark("model")
for step = 0, 3 - 1 do
  x = ohm.randn(2, 3, 64, 64, {device = "cuda"})
  do
    local new1, new2 = model(x)
    logits = new1
    boxes = new2
  end
  labels = ohm.randint(0, 7, {6}, {device = "cuda"})
  gt = ohm.rand(6, 4, {device = "cuda"})
  do
    local mode3 <close> = ohm.no_grad()
    prob = logits:flatten(0, 1):softmax(-1)
    cost_class = -slice(prob, 0, 0):index({labels}, {1})
    cost_bbox = ohm.cdist(boxes:flatten(0, 1), gt, {p = 1})
    cost = ((5 * cost_bbox) + cost_class):view(2, 10, -1):cpu()
  end
  mark("cost " .. step)
  batch_idx = ohm.tensor({0, 0, 0, 1, 1, 1}, {device = "cuda"})
  src_idx = ohm.tensor({0, 3, 5, 1, 2, 9}, {device = "cuda"})
  target_classes = ohm.full({2, 10}, 7, {dtype = ohm.int64, device = "cuda"})
  target_classes:index_put_({batch_idx, src_idx}, labels)
  loss_ce = F.cross_entropy(logits:transpose(1, 2), target_classes, weight)
  src_boxes = boxes:index({batch_idx, src_idx})
  loss_bbox = F.l1_loss(src_boxes, gt, {reduction = "none"}):sum() / 6
  loss_giou = (1 - giou_pairs(box_cxcywh_to_xyxy(src_boxes), box_cxcywh_to_xyxy(gt))):sum() / 6
  losses = (loss_ce + (5 * loss_bbox)) + (2 * loss_giou)
  optimizer:zero_grad()
  losses:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 0.1)
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
weight = nil
optimizer = nil
x = nil
logits = nil
boxes = nil
labels = nil
gt = nil
prob = nil
cost_class = nil
cost_bbox = nil
cost = nil
batch_idx = nil
src_idx = nil
target_classes = nil
loss_ce = nil
src_boxes = nil
loss_bbox = nil
loss_giou = nil
losses = nil
mark("globals deleted")

