local p, a, b, c, fields, several, twice, kept, copies, made, nest
p = ohm.ones(64, {device = "cuda"})
a = ohm.ones(64, {device = "cuda"})
b = ohm.ones(128, {device = "cuda"})
c = ohm.ones(256, {device = "cuda"})
fields = {x = ohm.ones(512, {device = "cuda"}), y = ohm.ones(1024, {device = "cuda"})}
several = {ohm.ones(64, {device = "cuda"}), ohm.ones(64, {device = "cuda"}), ohm.ones(64, {device = "cuda"})}
mark("made")
c = nil
a = nil
p = p + 1
mark("one after the other")
fields.y = p
fields.x = p * 2
b = ohm.ones(64, {device = "cuda"})
mark("fields")
p, b = nil, nil
several = nil
b = ohm.ones(64, {device = "cuda"})
mark("a list")
function twice(x)
  local y = x + 1
  local z = y * 2
  return z
end
a = ohm.ones(8, {device = "cuda"})
c = ohm.ones(8, {device = "cuda"})
c = twice(c)
a = nil
b = twice(c)
mark("of functions")
fields.x, fields.y = twice(c), twice(c)
a, b = b, a
mark("two fields")
fields = {z = ohm.ones(64, {device = "cuda"}), v = ohm.ones(64, {device = "cuda"}), w = ohm.ones(64, {device = "cuda"})}
fields = nil
c = ohm.ones(8, {device = "cuda"})
mark("a dictionary")
kept = {}
copies = {}
for task = 0, 1 do
  made = {}
  for _, name in ipairs({"a", "b", "c"}) do
    made[name] = ohm.zeros_like(c)
  end
  for _, name in ipairs({"a", "b", "c"}) do
    kept[name] = made[name]
    copies[name] = c:detach():clone()
  end
  mark("task " .. task)
end
function nest()
  local inner = ohm.ones(64, {device = "cuda"})
  local function step()
    local outer = inner
    inner = ohm.ones(64, {device = "cuda"})
    outer = nil
    inner = ohm.ones(64, {device = "cuda"})
  end
  step()
  mark("a variable of the function outside")
end
nest()
mark("outside")
mark("end of program (globals alive)")
a = nil
b = nil
c = nil
kept.a = nil
kept.b = nil
kept.c = nil
copies.a = nil
copies.b = nil
copies.c = nil
made.a = nil
made.b = nil
made.c = nil
mark("globals deleted")
