-- For luacheck: what scenarios see is Lua 5.4 without a way out of the sandbox, and `ohm`.
std = "lua54"
read_globals = {"ohm"}
not_globals = {"io", "os", "package", "dofile", "loadfile"}
max_line_length = 100

-- A value that is assigned and never read can be the point: it keeps memory alive, or frees it.
-- One that only closes a scope is not read at all: it begins with an underscore.
ignore = {"231", "241", "311", "331", "211/_.*"}
