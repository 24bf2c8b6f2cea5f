local Encoder, MoCo, model, optimizer, criterion, images, view1, view2, output, target, loss, _, pred, correct, top1
Encoder = nn.Module:extend("Encoder")
function Encoder:__init(dim)
  if dim == nil then dim = 64 end
  self.conv1 = nn.Conv2d(3, 32, 3, {stride = 2, padding = 1})
  self.bn1 = nn.BatchNorm2d(32)
  self.conv2 = nn.Conv2d(32, 64, 3, {stride = 2, padding = 1})
  self.bn2 = nn.BatchNorm2d(64)
  self.fc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, dim))
end
function Encoder:forward(x)
  x = F.relu(self.bn1(self.conv1(x)))
  x = F.relu(self.bn2(self.conv2(x)))
  x = x:mean({dim = {2, 3}})
  return self.fc(x)
end
MoCo = nn.Module:extend("MoCo")
function MoCo:__init(dim, K, m, T)
  local pq, pk
  if T == nil then T = 0.07 end
  if m == nil then m = 0.999 end
  if K == nil then K = 256 end
  if dim == nil then dim = 64 end
  self.K = K
  self.m = m
  self.T = T
  self.encoder_q = Encoder(dim)
  self.encoder_k = Encoder(dim)
  do
    local list1_2 = self.encoder_k:parameters()
    for number1, item1 in ipairs(self.encoder_q:parameters()) do
      pq = item1
      pk = list1_2[number1]
      pk.data:copy_(pq.data)
      pk.requires_grad = false
    end
  end
  self:register_buffer("queue", F.normalize(ohm.randn(dim, K), {dim = 0}))
  self:register_buffer("queue_ptr", ohm.zeros(1, {dtype = ohm.int64}))
end
function MoCo:momentum_update()
  local pq, pk
  do
    local mode2 <close> = ohm.no_grad()
    do
      local list3_2 = self.encoder_k:parameters()
      for number3, item3 in ipairs(self.encoder_q:parameters()) do
        pq = item3
        pk = list3_2[number3]
        pk.data = (pk.data * self.m) + (pq.data * (1.0 - self.m))
      end
    end
  end
end
function MoCo:enqueue(keys, ptr)
  local n
  do
    local mode4 <close> = ohm.no_grad()
    n = keys:size(0)
    slice(slice(self.queue, 0, 0), 1, ptr, ptr + n):copy_(keys:t())
    self.queue_ptr:select(0, 0):fill_((ptr + n) % self.K)
  end
end
function MoCo:forward(im_q, im_k, ptr)
  local q, idx, back, k, l_pos, l_neg, logits, labels
  q = self.encoder_q(im_q)
  q = F.normalize(q, {dim = 1})
  do
    local mode5 <close> = ohm.no_grad()
    self:momentum_update()
    idx = ohm.randperm(im_k:size(0), {device = "cuda"})
    back = ohm.argsort(idx)
    k = self.encoder_k(im_k:index({idx}))
    k = F.normalize(k, {dim = 1})
    k = k:index({back})
  end
  l_pos = ohm.einsum("nc,nc->n", {q, k}):unsqueeze(-1)
  l_neg = ohm.einsum("nc,ck->nk", {q, self.queue:clone():detach()})
  logits = ohm.cat({l_pos, l_neg}, {dim = 1})
  logits:div_(self.T)
  labels = ohm.zeros(logits:size(0), {dtype = ohm.int64}):cuda()
  self:enqueue(k, ptr)
  return logits, labels
end
model = MoCo():cuda()
optimizer = ohm.optim.SGD(model.encoder_q:parameters(), {lr = 0.03, momentum = 0.9, weight_decay = 0.0001})
criterion = nn.CrossEntropyLoss():cuda()
mark("model")
for step = 0, 3 - 1 do
  images = ohm.randn(32, 3, 16, 16)
  view1 = images:cuda({non_blocking = true})
  view2 = ohm.flip(view1, {3}) + (0.1 * ohm.randn_like(view1))
  do
    local new1, new2 = model(view1, view2, step * 32)
    output = new1
    target = new2
  end
  loss = criterion(output, target)
  mark("forward " .. step)
  do
    local new1, new2 = output:topk(5, 1)
    _ = new1
    pred = new2
  end
  correct = pred:t():eq(target:view(1, -1):expand_as(pred:t()))
  top1 = slice(correct, 0, 0, 1):reshape(-1):float():sum(0, {keepdim = true}):mul_(100.0 / 32):item()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
criterion = nil
images = nil
view1 = nil
view2 = nil
output = nil
target = nil
loss = nil
_ = nil
pred = nil
correct = nil
top1 = nil
mark("globals deleted")
