local ways, shots, queries, block, encoder, optimizer, support, query, labels, z, z_support, z_query, prototypes, dists, loss, acc, head, before, fast, inner, x, y, p, q
ways, shots, queries = 5, 3, 4
function block(cin, cout)
  return nn.Sequential(nn.Conv2d(cin, cout, 3, {padding = 1}), nn.BatchNorm2d(cout, {track_running_stats = false}), nn.ReLU(), nn.MaxPool2d(2))
end
encoder = nn.Sequential(block(1, 24), block(24, 24), block(24, 32), nn.Flatten()):cuda()
optimizer = ohm.optim.Adam(encoder:parameters(), {lr = 0.001})
mark("encoder")
for episode = 0, 2 - 1 do
  support = ohm.randn(ways * shots, 1, 20, 20, {device = "cuda"})
  query = ohm.randn(ways * queries, 1, 20, 20, {device = "cuda"})
  labels = ohm.arange(ways, {device = "cuda"}):repeat_interleave(queries)
  z = encoder(ohm.cat({support, query}, 0))
  do
    local new1, new2 = z:split({ways * shots, ways * queries})
    z_support = new1
    z_query = new2
  end
  prototypes = z_support:view(ways, shots, -1):mean(1)
  dists = ohm.pow(z_query:unsqueeze(1) - prototypes:unsqueeze(0), 2):sum(2)
  loss = F.nll_loss(F.log_softmax(-dists, {dim = 1}), labels)
  acc = ((-dists):argmax(1):eq(labels)):float():mean():item()
  mark("forward " .. episode)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. episode)
end
head = nn.Sequential(encoder, nn.Linear(128, ways)):cuda()
mark("head")
for task = 0, 2 - 1 do
  do
    local clones = {}
    for name, parameter in head:named_parameters() do
      clones[name] = parameter:detach():clone()
    end
    before = clones
  end
  fast = ohm.copy.deepcopy(head)
  inner = ohm.optim.SGD(fast:parameters(), {lr = 0.02})
  for k = 0, 2 - 1 do
    x = ohm.randn(10, 1, 20, 20, {device = "cuda"})
    y = ohm.randint(0, ways, {10}, {device = "cuda"})
    loss = F.cross_entropy(fast(x), y)
    inner:zero_grad()
    loss:backward()
    inner:step()
  end
  mark("adapted " .. task)
  do
    local mode1 <close> = ohm.no_grad()
    do
      local list2_2 = fast:parameters()
      for number2, item2 in ipairs(head:parameters()) do
        p = item2
        q = list2_2[number2]
        p:add_(q - p, {alpha = 0.1})
      end
    end
  end
  mark("outer " .. task)
end
fast = nil
inner = nil
before = nil
mark("dropped")
mark("end of program (globals alive)")
encoder = nil
optimizer = nil
support = nil
query = nil
labels = nil
z = nil
z_support = nil
z_query = nil
prototypes = nil
dists = nil
loss = nil
acc = nil
head = nil
x = nil
y = nil
p = nil
q = nil
mark("globals deleted")
