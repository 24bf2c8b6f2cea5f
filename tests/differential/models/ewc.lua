local model, optimizer, fisher, anchors, x, y, loss, penalty, name, p, frozen, diagonals, out, label
model = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 6)):cuda()
optimizer = ohm.optim.Adagrad(model:parameters(), {lr = 0.01})
mark("model")
fisher = {}
anchors = {}
for task = 0, 2 - 1 do
  for step = 0, 2 - 1 do
    x = ohm.randn(12, 20, {device = "cuda"})
    y = ohm.randint(0, 6, {12}, {device = "cuda"})
    loss = F.cross_entropy(model(x), y)
    if task > 0 then
      penalty = 0
      for item_name, item in model:named_parameters() do
        name, p = item_name, item
        penalty = penalty + (fisher[name] * (p - anchors[name]):pow(2)):sum()
      end
      loss = loss + (100.0 * penalty)
    end
    optimizer:zero_grad()
    loss:backward()
    optimizer:step()
    mark("task " .. task .. " step " .. step)
  end
  frozen = ohm.copy.deepcopy(model)
  frozen:eval()
  diagonals = {}
  for item_name, item in frozen:named_parameters() do
    name, p = item_name, item
    diagonals[name] = ohm.zeros_like(p)
  end
  for i = 0, 3 - 1 do
    frozen:zero_grad()
    out = F.log_softmax(frozen(x:select(0, i):view(1, -1)), {dim = 1})
    label = second(out:max(1))
    F.nll_loss(out, label):backward()
    for item_name, item in frozen:named_parameters() do
      name, p = item_name, item
      diagonals[name]:add_((p.grad.data ^ 2) / 3)
    end
  end
  for item_name, item in frozen:named_parameters() do
    name, p = item_name, item
    fisher[name] = diagonals[name]
    anchors[name] = p:detach():clone()
  end
  mark("fisher " .. task)
end
mark("end of program (globals alive)")
model = nil
optimizer = nil
fisher = nil
anchors = nil
x = nil
y = nil
loss = nil
p = nil
frozen = nil
diagonals = nil
out = nil
label = nil
penalty = nil
mark("globals deleted")
