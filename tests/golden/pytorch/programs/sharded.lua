-- Written by tests/differential/sharded.py from tests/differential/sharded: do not edit.

--== sharded_accumulation gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     opt.zero_grad()
--     for part in range(3):
--         x = torch.randn(64, 1000, device="cuda")
--         y = torch.randint(0, 1000, (64,), device="cuda")
--         model.set_requires_gradient_sync(part == 2)
--         mark(f"batch {step} {part}")
--         out = model(x)
--         mark(f"forward {step} {part}")
--         loss = F.cross_entropy(out, y)
--         loss.backward()
--         mark(f"backward {step} {part}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    opt:zero_grad()
    for part = 0, 2 do
      x = ohm.randn(64, 1000, {device = "cuda"})
      y = ohm.randint(0, 1000, {64}, {device = "cuda"})
      model:set_requires_gradient_sync(part == 2)
      mark("batch " .. step .. " " .. part)
      out = model(x)
      mark("forward " .. step .. " " .. part)
      loss = F.cross_entropy(out, y)
      loss:backward()
      mark("backward " .. step .. " " .. part)
    end
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_accumulation_bfloat16 gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
-- for i in (0, 2, 4):
--     fully_shard(model[i], mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     opt.zero_grad()
--     for part in range(3):
--         x = torch.randn(64, 1000, device="cuda")
--         y = torch.randint(0, 1000, (64,), device="cuda")
--         model.set_requires_gradient_sync(part == 2)
--         mark(f"batch {step} {part}")
--         out = model(x)
--         mark(f"forward {step} {part}")
--         loss = F.cross_entropy(out, y)
--         loss.backward()
--         mark(f"backward {step} {part}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  local mp = {param_dtype = ohm.bfloat16, reduce_dtype = ohm.float32}
  for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    opt:zero_grad()
    for part = 0, 2 do
      x = ohm.randn(64, 1000, {device = "cuda"})
      y = ohm.randint(0, 1000, {64}, {device = "cuda"})
      model:set_requires_gradient_sync(part == 2)
      mark("batch " .. step .. " " .. part)
      out = model(x)
      mark("forward " .. step .. " " .. part)
      loss = F.cross_entropy(out, y)
      loss:backward()
      mark("backward " .. step .. " " .. part)
    end
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_accumulation_stays_whole gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     opt.zero_grad()
--     for part in range(3):
--         x = torch.randn(64, 1000, device="cuda")
--         y = torch.randint(0, 1000, (64,), device="cuda")
--         model.set_requires_gradient_sync(part == 2)
--         model.set_reshard_after_backward(part == 2)
--         mark(f"batch {step} {part}")
--         out = model(x)
--         mark(f"forward {step} {part}")
--         loss = F.cross_entropy(out, y)
--         loss.backward()
--         mark(f"backward {step} {part}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    opt:zero_grad()
    for part = 0, 2 do
      x = ohm.randn(64, 1000, {device = "cuda"})
      y = ohm.randint(0, 1000, {64}, {device = "cuda"})
      model:set_requires_gradient_sync(part == 2)
      model:set_reshard_after_backward(part == 2)
      mark("batch " .. step .. " " .. part)
      out = model(x)
      mark("forward " .. step .. " " .. part)
      loss = F.cross_entropy(out, y)
      loss:backward()
      mark("backward " .. step .. " " .. part)
    end
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_adamw gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_adds_gradients gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_bfloat16 gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
-- for i in (0, 2, 4):
--     fully_shard(model[i], mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  local mp = {param_dtype = ohm.bfloat16, reduce_dtype = ohm.float32}
  for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_bfloat16_alone gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
-- for i in (0, 2, 4):
--     fully_shard(model[i], mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  local mp = {param_dtype = ohm.bfloat16}
  for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_bfloat16_uneven gpus=2
-- model = nn.Sequential(nn.Linear(1000, 333), nn.ReLU(), nn.Linear(333, 333), nn.ReLU(), nn.Linear(333, 1001)).cuda()
-- mark("model")
-- mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, output_dtype=torch.float32)
-- for i in (0, 2, 4):
--     fully_shard(model[i], mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 333), nn.ReLU(), nn.Linear(333, 333), nn.ReLU(),
                        nn.Linear(333, 1001)):cuda()
  mark("model")
  local mp = {param_dtype = ohm.bfloat16, reduce_dtype = ohm.float32, output_dtype = ohm.float32}
  for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_called_twice gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y) + F.cross_entropy(model(x * 2), y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y) + F.cross_entropy(model(x * 2), y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_checkpoints gpus=2
-- class Block(nn.Module):
--     def __init__(self, d, h):
--         super().__init__()
--         self.n1 = nn.LayerNorm(d)
--         self.attn = nn.MultiheadAttention(d, h, batch_first=True)
--         self.n2 = nn.LayerNorm(d)
--         self.up = nn.Linear(d, 4 * d)
--         self.down = nn.Linear(4 * d, d)
-- 
--     def forward(self, x):
--         h = self.n1(x)
--         x = x + self.attn(h, h, h, need_weights=False)[0]
--         return x + self.down(F.gelu(self.up(self.n2(x))))
-- 
-- 
-- class Net(nn.Module):
--     def __init__(self, v, d, h, n):
--         super().__init__()
--         self.emb = nn.Embedding(v, d)
--         self.blocks = nn.ModuleList([Block(d, h) for _ in range(n)])
--         self.norm = nn.LayerNorm(d)
--         self.head = nn.Linear(d, v, bias=False)
-- 
--     def forward(self, i):
--         x = self.emb(i)
--         for block in self.blocks:
--             x = checkpoint(block, x, use_reentrant=False)
--         return self.head(self.norm(x))
-- 
-- 
-- model = Net(1003, 256, 4, 2).cuda()
-- mark("model")
-- for block in model.blocks:
--     fully_shard(block)
-- fully_shard(model)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     x = torch.randint(0, 1003, (8, 64), device="cuda")
--     y = torch.randint(0, 1003, (8, 64), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  local Block = nn.Module:extend("Block")
  function Block:__init(d, h)
    self.n1 = nn.LayerNorm(d)
    self.attn = nn.MultiheadAttention(d, h, {batch_first = true})
    self.n2 = nn.LayerNorm(d)
    self.up = nn.Linear(d, 4 * d)
    self.down = nn.Linear(4 * d, d)
  end
  function Block:forward(x)
    local h = self.n1(x)
    x = x + self.attn(h, h, h, {need_weights = false})
    return x + self.down(F.gelu(self.up(self.n2(x))))
  end
  local Net = nn.Module:extend("Net")
  function Net:__init(v, d, h, n)
    self.emb = nn.Embedding(v, d)
    self.blocks = nn.ModuleList(collect(n, function() return Block(d, h) end))
    self.norm = nn.LayerNorm(d)
    self.head = nn.Linear(d, v, {bias = false})
  end
  function Net:forward(i)
    local x = self.emb(i)
    for k = 1, #self.blocks do x = checkpoint(self.blocks[k], x, {use_reentrant = false}) end
    return self.head(self.norm(x))
  end
  model = Net(1003, 256, 4, 2):cuda()
  mark("model")
  for k = 1, #model.blocks do fully_shard(model.blocks[k]) end
  fully_shard(model)
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    x = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    y = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out:flatten(0, 1), y:flatten())
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_checkpoints_bfloat16 gpus=2
-- mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
-- class Block(nn.Module):
--     def __init__(self, d, h):
--         super().__init__()
--         self.n1 = nn.LayerNorm(d)
--         self.attn = nn.MultiheadAttention(d, h, batch_first=True)
--         self.n2 = nn.LayerNorm(d)
--         self.up = nn.Linear(d, 4 * d)
--         self.down = nn.Linear(4 * d, d)
-- 
--     def forward(self, x):
--         h = self.n1(x)
--         x = x + self.attn(h, h, h, need_weights=False)[0]
--         return x + self.down(F.gelu(self.up(self.n2(x))))
-- 
-- 
-- class Net(nn.Module):
--     def __init__(self, v, d, h, n):
--         super().__init__()
--         self.emb = nn.Embedding(v, d)
--         self.blocks = nn.ModuleList([Block(d, h) for _ in range(n)])
--         self.norm = nn.LayerNorm(d)
--         self.head = nn.Linear(d, v, bias=False)
-- 
--     def forward(self, i):
--         x = self.emb(i)
--         for block in self.blocks:
--             x = checkpoint(block, x, use_reentrant=False)
--         return self.head(self.norm(x))
-- 
-- 
-- model = Net(1003, 256, 4, 2).cuda()
-- mark("model")
-- for block in model.blocks:
--     fully_shard(block, mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     x = torch.randint(0, 1003, (8, 64), device="cuda")
--     y = torch.randint(0, 1003, (8, 64), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  local mp = {param_dtype = ohm.bfloat16, reduce_dtype = ohm.float32}
  local Block = nn.Module:extend("Block")
  function Block:__init(d, h)
    self.n1 = nn.LayerNorm(d)
    self.attn = nn.MultiheadAttention(d, h, {batch_first = true})
    self.n2 = nn.LayerNorm(d)
    self.up = nn.Linear(d, 4 * d)
    self.down = nn.Linear(4 * d, d)
  end
  function Block:forward(x)
    local h = self.n1(x)
    x = x + self.attn(h, h, h, {need_weights = false})
    return x + self.down(F.gelu(self.up(self.n2(x))))
  end
  local Net = nn.Module:extend("Net")
  function Net:__init(v, d, h, n)
    self.emb = nn.Embedding(v, d)
    self.blocks = nn.ModuleList(collect(n, function() return Block(d, h) end))
    self.norm = nn.LayerNorm(d)
    self.head = nn.Linear(d, v, {bias = false})
  end
  function Net:forward(i)
    local x = self.emb(i)
    for k = 1, #self.blocks do x = checkpoint(self.blocks[k], x, {use_reentrant = false}) end
    return self.head(self.norm(x))
  end
  model = Net(1003, 256, 4, 2):cuda()
  mark("model")
  for k = 1, #model.blocks do fully_shard(model.blocks[k], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    x = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    y = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out:flatten(0, 1), y:flatten())
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_evaluation gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     with torch.no_grad():
--         out = model(x)
--     mark('eval')
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    ohm.no_grad(function() out = model(x) end)
    mark('eval')
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_float16_reduced gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- mp = MixedPrecisionPolicy(param_dtype=torch.float16, reduce_dtype=torch.float16)
-- for i in (0, 2, 4):
--     fully_shard(model[i], mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  local mp = {param_dtype = ohm.float16, reduce_dtype = ohm.float16}
  for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_float16_uneven gpus=2
-- model = nn.Sequential(nn.Linear(1000, 333), nn.ReLU(), nn.Linear(333, 333), nn.ReLU(), nn.Linear(333, 1001)).cuda()
-- mark("model")
-- mp = MixedPrecisionPolicy(param_dtype=torch.float16, reduce_dtype=torch.float32, output_dtype=torch.float32)
-- for i in (0, 2, 4):
--     fully_shard(model[i], mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 333), nn.ReLU(), nn.Linear(333, 333), nn.ReLU(),
                        nn.Linear(333, 1001)):cuda()
  mark("model")
  local mp = {param_dtype = ohm.float16, reduce_dtype = ohm.float32, output_dtype = ohm.float32}
  for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_from_the_host gpus=2
-- model = nn.Sequential(nn.Linear(1000, 400), nn.BatchNorm1d(400), nn.ReLU(), nn.Linear(400, 1000))
-- mark("model")
-- fully_shard(model[0])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000)
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 400), nn.BatchNorm1d(400), nn.ReLU(), nn.Linear(400, 1000))
  mark("model")
  fully_shard(model[1])
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000)
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_frozen gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for p in model[0].parameters():
--     p.requires_grad = False
-- del p
-- model[2].bias.requires_grad = False
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  model[1].weight.requires_grad = false
  model[1].bias.requires_grad = false
  model[3].bias.requires_grad = false
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.AdamW(filter(model:parameters(), function(p) return p.requires_grad end), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_fused_adamw gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.AdamW(model.parameters(), fused=True)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.AdamW(model:parameters(), {fused = true})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_gradient_of_input gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda", requires_grad=True)
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda", requires_grad = true})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_outermost_alone gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_outermost_let_go gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- fully_shard(model[2])
-- fully_shard(model, reshard_after_forward=True)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  fully_shard(model[3])
  fully_shard(model, {reshard_after_forward = true})
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_plain_adam gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.Adam(model.parameters(), foreach=False)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.Adam(model:parameters(), {foreach = false})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_reduced_bfloat16 gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- mp = MixedPrecisionPolicy(param_dtype=torch.float32, reduce_dtype=torch.bfloat16)
-- for i in (0, 2, 4):
--     fully_shard(model[i], mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  local mp = {param_dtype = ohm.float32, reduce_dtype = ohm.bfloat16}
  for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_reentrant_checkpoints gpus=2
-- class Block(nn.Module):
--     def __init__(self, d, h):
--         super().__init__()
--         self.n1 = nn.LayerNorm(d)
--         self.attn = nn.MultiheadAttention(d, h, batch_first=True)
--         self.n2 = nn.LayerNorm(d)
--         self.up = nn.Linear(d, 4 * d)
--         self.down = nn.Linear(4 * d, d)
-- 
--     def forward(self, x):
--         h = self.n1(x)
--         x = x + self.attn(h, h, h, need_weights=False)[0]
--         return x + self.down(F.gelu(self.up(self.n2(x))))
-- 
-- 
-- class Net(nn.Module):
--     def __init__(self, v, d, h, n):
--         super().__init__()
--         self.emb = nn.Embedding(v, d)
--         self.blocks = nn.ModuleList([Block(d, h) for _ in range(n)])
--         self.norm = nn.LayerNorm(d)
--         self.head = nn.Linear(d, v, bias=False)
-- 
--     def forward(self, i):
--         x = self.emb(i)
--         for block in self.blocks:
--             x = checkpoint(block, x, use_reentrant=True)
--         return self.head(self.norm(x))
-- 
-- 
-- model = Net(1003, 256, 4, 2).cuda()
-- mark("model")
-- for block in model.blocks:
--     fully_shard(block)
-- fully_shard(model)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     x = torch.randint(0, 1003, (8, 64), device="cuda")
--     y = torch.randint(0, 1003, (8, 64), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  local Block = nn.Module:extend("Block")
  function Block:__init(d, h)
    self.n1 = nn.LayerNorm(d)
    self.attn = nn.MultiheadAttention(d, h, {batch_first = true})
    self.n2 = nn.LayerNorm(d)
    self.up = nn.Linear(d, 4 * d)
    self.down = nn.Linear(4 * d, d)
  end
  function Block:forward(x)
    local h = self.n1(x)
    x = x + self.attn(h, h, h, {need_weights = false})
    return x + self.down(F.gelu(self.up(self.n2(x))))
  end
  local Net = nn.Module:extend("Net")
  function Net:__init(v, d, h, n)
    self.emb = nn.Embedding(v, d)
    self.blocks = nn.ModuleList(collect(n, function() return Block(d, h) end))
    self.norm = nn.LayerNorm(d)
    self.head = nn.Linear(d, v, {bias = false})
  end
  function Net:forward(i)
    local x = self.emb(i)
    for k = 1, #self.blocks do x = checkpoint(self.blocks[k], x, {use_reentrant = true}) end
    return self.head(self.norm(x))
  end
  model = Net(1003, 256, 4, 2):cuda()
  mark("model")
  for k = 1, #model.blocks do fully_shard(model.blocks[k]) end
  fully_shard(model)
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    x = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    y = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out:flatten(0, 1), y:flatten())
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_sgd gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_stays_whole gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i], reshard_after_forward=False)
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i], {reshard_after_forward = false}) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_transformer gpus=2
-- class Block(nn.Module):
--     def __init__(self, d, h):
--         super().__init__()
--         self.n1 = nn.LayerNorm(d)
--         self.attn = nn.MultiheadAttention(d, h, batch_first=True)
--         self.n2 = nn.LayerNorm(d)
--         self.up = nn.Linear(d, 4 * d)
--         self.down = nn.Linear(4 * d, d)
-- 
--     def forward(self, x):
--         h = self.n1(x)
--         x = x + self.attn(h, h, h, need_weights=False)[0]
--         return x + self.down(F.gelu(self.up(self.n2(x))))
-- 
-- 
-- class Net(nn.Module):
--     def __init__(self, v, d, h, n):
--         super().__init__()
--         self.emb = nn.Embedding(v, d)
--         self.blocks = nn.ModuleList([Block(d, h) for _ in range(n)])
--         self.norm = nn.LayerNorm(d)
--         self.head = nn.Linear(d, v, bias=False)
-- 
--     def forward(self, i):
--         x = self.emb(i)
--         for block in self.blocks:
--             x = block(x)
--         return self.head(self.norm(x))
-- 
-- 
-- model = Net(1003, 256, 4, 2).cuda()
-- mark("model")
-- for block in model.blocks:
--     fully_shard(block)
-- fully_shard(model)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     x = torch.randint(0, 1003, (8, 64), device="cuda")
--     y = torch.randint(0, 1003, (8, 64), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  local Block = nn.Module:extend("Block")
  function Block:__init(d, h)
    self.n1 = nn.LayerNorm(d)
    self.attn = nn.MultiheadAttention(d, h, {batch_first = true})
    self.n2 = nn.LayerNorm(d)
    self.up = nn.Linear(d, 4 * d)
    self.down = nn.Linear(4 * d, d)
  end
  function Block:forward(x)
    local h = self.n1(x)
    x = x + self.attn(h, h, h, {need_weights = false})
    return x + self.down(F.gelu(self.up(self.n2(x))))
  end
  local Net = nn.Module:extend("Net")
  function Net:__init(v, d, h, n)
    self.emb = nn.Embedding(v, d)
    self.blocks = nn.ModuleList(collect(n, function() return Block(d, h) end))
    self.norm = nn.LayerNorm(d)
    self.head = nn.Linear(d, v, {bias = false})
  end
  function Net:forward(i)
    local x = self.emb(i)
    for k = 1, #self.blocks do x = self.blocks[k](x) end
    return self.head(self.norm(x))
  end
  model = Net(1003, 256, 4, 2):cuda()
  mark("model")
  for k = 1, #model.blocks do fully_shard(model.blocks[k]) end
  fully_shard(model)
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    x = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    y = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out:flatten(0, 1), y:flatten())
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_transformer_bfloat16 gpus=2
-- mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
-- class Block(nn.Module):
--     def __init__(self, d, h):
--         super().__init__()
--         self.n1 = nn.LayerNorm(d)
--         self.attn = nn.MultiheadAttention(d, h, batch_first=True)
--         self.n2 = nn.LayerNorm(d)
--         self.up = nn.Linear(d, 4 * d)
--         self.down = nn.Linear(4 * d, d)
-- 
--     def forward(self, x):
--         h = self.n1(x)
--         x = x + self.attn(h, h, h, need_weights=False)[0]
--         return x + self.down(F.gelu(self.up(self.n2(x))))
-- 
-- 
-- class Net(nn.Module):
--     def __init__(self, v, d, h, n):
--         super().__init__()
--         self.emb = nn.Embedding(v, d)
--         self.blocks = nn.ModuleList([Block(d, h) for _ in range(n)])
--         self.norm = nn.LayerNorm(d)
--         self.head = nn.Linear(d, v, bias=False)
-- 
--     def forward(self, i):
--         x = self.emb(i)
--         for block in self.blocks:
--             x = block(x)
--         return self.head(self.norm(x))
-- 
-- 
-- model = Net(1003, 256, 4, 2).cuda()
-- mark("model")
-- for block in model.blocks:
--     fully_shard(block, mp_policy=mp)
-- fully_shard(model, mp_policy=mp)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(2):
--     x = torch.randint(0, 1003, (8, 64), device="cuda")
--     y = torch.randint(0, 1003, (8, 64), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out.flatten(0, 1), y.flatten())
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  local mp = {param_dtype = ohm.bfloat16, reduce_dtype = ohm.float32}
  local Block = nn.Module:extend("Block")
  function Block:__init(d, h)
    self.n1 = nn.LayerNorm(d)
    self.attn = nn.MultiheadAttention(d, h, {batch_first = true})
    self.n2 = nn.LayerNorm(d)
    self.up = nn.Linear(d, 4 * d)
    self.down = nn.Linear(4 * d, d)
  end
  function Block:forward(x)
    local h = self.n1(x)
    x = x + self.attn(h, h, h, {need_weights = false})
    return x + self.down(F.gelu(self.up(self.n2(x))))
  end
  local Net = nn.Module:extend("Net")
  function Net:__init(v, d, h, n)
    self.emb = nn.Embedding(v, d)
    self.blocks = nn.ModuleList(collect(n, function() return Block(d, h) end))
    self.norm = nn.LayerNorm(d)
    self.head = nn.Linear(d, v, {bias = false})
  end
  function Net:forward(i)
    local x = self.emb(i)
    for k = 1, #self.blocks do x = self.blocks[k](x) end
    return self.head(self.norm(x))
  end
  model = Net(1003, 256, 4, 2):cuda()
  mark("model")
  for k = 1, #model.blocks do fully_shard(model.blocks[k], {mp_policy = mp}) end
  fully_shard(model, {mp_policy = mp})
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 1 do
    x = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    y = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out:flatten(0, 1), y:flatten())
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_two_models gpus=2
-- one = nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 1000)).cuda()
-- two = nn.Sequential(nn.Linear(1000, 300), nn.ReLU(), nn.Linear(300, 1000)).cuda()
-- mark("model")
-- for net in (one, two):
--     fully_shard(net[0])
--     fully_shard(net)
-- del net
-- model = one, two
-- opt = [torch.optim.AdamW(one.parameters()), torch.optim.AdamW(two.parameters())]
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     out = one(x)
--     mark(f"first {step}")
--     loss = F.cross_entropy(two(out.detach()), y)
--     mark(f"second {step}")
--     loss.backward()
--     mark(f"backward {step}")
--     opt[1].step()
--     opt[1].zero_grad()
--     loss = F.cross_entropy(two(out), y)
--     mark(f"third {step}")
--     loss.backward()
--     opt[0].step()
--     opt[0].zero_grad()
--     opt[1].zero_grad()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  local one = nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 1000)):cuda()
  local two = nn.Sequential(nn.Linear(1000, 300), nn.ReLU(), nn.Linear(300, 1000)):cuda()
  mark("model")
  for _, net in ipairs {one, two} do
    fully_shard(net[1])
    fully_shard(net)
  end
  model = {one, two}
  opt = {ohm.optim.AdamW(one:parameters()), ohm.optim.AdamW(two:parameters())}
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    out = one(x)
    mark("first " .. step)
    loss = F.cross_entropy(two(out:detach()), y)
    mark("second " .. step)
    loss:backward()
    mark("backward " .. step)
    opt[2]:step()
    opt[2]:zero_grad()
    loss = F.cross_entropy(two(out), y)
    mark("third " .. step)
    loss:backward()
    opt[1]:step()
    opt[1]:zero_grad()
    opt[2]:zero_grad()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_uneven gpus=2
-- model = nn.Sequential(nn.Linear(1000, 333), nn.ReLU(), nn.Linear(333, 333), nn.ReLU(), nn.Linear(333, 1001)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 333), nn.ReLU(), nn.Linear(333, 333), nn.ReLU(),
                        nn.Linear(333, 1001)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_unshard gpus=2
-- model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(), nn.Linear(4000, 1000)).cuda()
-- mark("model")
-- for i in (0, 2, 4):
--     fully_shard(model[i])
-- fully_shard(model)
-- opt = torch.optim.SGD(model.parameters(), lr=0.01)
-- model[0].unshard()
-- model[2].unshard()
-- mark('unsharded')
-- model[0].reshard()
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                        nn.Linear(4000, 1000)):cuda()
  mark("model")
  for i = 1, 5, 2 do fully_shard(model[i]) end
  fully_shard(model)
  opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
  model[1]:unshard()
  model[3]:unshard()
  mark('unsharded')
  model[1]:reshard()
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)

--== sharded_unused gpus=2
-- class Net(nn.Module):
--     def __init__(self):
--         super().__init__()
--         self.a = nn.Linear(1000, 512)
--         self.b = nn.Linear(512, 512)
--         self.c = nn.Linear(512, 1000)
--         self.last = nn.Parameter(torch.zeros(1001))
--         self.uses_b = False
-- 
--     def forward(self, x):
--         h = self.a(x).relu()
--         if self.uses_b:
--             h = self.b(h).relu()
--         return self.c(h) * self.last[:1000]
-- 
-- 
-- model = Net().cuda()
-- mark("model")
-- for part in (model.a, model.b, model.c):
--     fully_shard(part)
-- fully_shard(model)
-- opt = torch.optim.AdamW(model.parameters(), lr=0.01)
-- mark("wrapped")
-- for step in range(3):
--     x = torch.randn(64, 1000, device="cuda")
--     y = torch.randint(0, 1000, (64,), device="cuda")
--     model.uses_b = step == 1
--     opt.zero_grad()
--     mark(f"batch {step}")
--     out = model(x)
--     mark(f"forward {step}")
--     loss = F.cross_entropy(out, y)
--     loss.backward()
--     mark(f"backward {step}")
--     opt.step()
--     mark(f"step {step}")
-- One rank is recorded: the other one does the same on its own GPU, and marks nothing. Models and
-- optimizers stay until the program is over.
kept = {}
ohm.distributed.spawn(2, function(rank)
  local mark = rank == 0 and mark or function() end
  local fully_shard, checkpoint = ohm.distributed.fully_shard, ohm.utils.checkpoint.checkpoint
  local model, opt, x, y, out, loss
  local Net = nn.Module:extend("Net")
  function Net:__init()
    self.a = nn.Linear(1000, 512)
    self.b = nn.Linear(512, 512)
    self.c = nn.Linear(512, 1000)
    self.last = nn.Parameter(ohm.zeros(1001))
    self.uses_b = false
  end
  function Net:forward(x)
    local h = self.a(x):relu()
    if self.uses_b then h = self.b(h):relu() end
    return self.c(h) * self.last:narrow(0, 0, 1000)
  end
  model = Net():cuda()
  mark("model")
  for _, part in ipairs {model.a, model.b, model.c} do fully_shard(part) end
  fully_shard(model)
  opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
  mark("wrapped")
  for step = 0, 2 do
    x = ohm.randn(64, 1000, {device = "cuda"})
    y = ohm.randint(0, 1000, {64}, {device = "cuda"})
    model.uses_b = step == 1
    opt:zero_grad()
    mark("batch " .. step)
    out = model(x)
    mark("forward " .. step)
    loss = F.cross_entropy(out, y)
    loss:backward()
    mark("backward " .. step)
    opt:step()
    mark("step " .. step)
  end
  kept[rank + 1] = {model, opt}
  mark("end of program (globals alive)")
  x = nil; sweep()
  y = nil; sweep()
  out = nil; sweep()
  loss = nil; sweep()
  mark("globals deleted")
end)
