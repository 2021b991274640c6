-- The basic functions of a script's environment, where they differ from those of Lua 5.1.

local machine, host = ...

local type, error, next, pcall, select = type, error, next, pcall, select
local concat = table.concat
local following, text = machine.following, machine.text
local line, placed, raise, raise_argument, as_seen =
  machine.line, machine.placed, machine.raise, machine.raise_argument, machine.as_seen
local integer_argument, table_argument = machine.integer_argument, machine.table_argument

local base = {}

local function expect_value(count, name)
  if count == 0 then
    raise("bad argument #1 to " .. name .. " (value expected)")
  end
end

function base.next(object, key)
  table_argument(object, "next")
  return following(object, key)
end

function base.pairs(object)
  table_argument(object, "pairs")
  return following, object, nil
end

function base.tostring(...)
  expect_value(select("#", ...), "tostring")
  return text((...))
end

function base.tonumber(...)
  expect_value(select("#", ...), "tonumber")
  return (machine.to_number(...))
end

-- The results of a protected call. What Python raised goes on: it is none of the script's business.
local function finish(ok, ...)
  if ok then
    return ok, ...
  end
  if type((...)) == "userdata" then
    error((...), 0)
  end
  return ok, as_seen((...))
end

-- An error whose message names the line of the script, where the level is not 0.
function base.error(...)
  local message, level = ...
  expect_value(select("#", ...), "error")
  level = integer_argument(level, 2, "error", 1)
  if type(message) == "string" and level > 0 then
    message = placed(message, line(level + 2))
  end
  error(message, 0)
end

function base.assert(...)
  local value, message = ...
  if value then
    return ...
  end
  if message ~= nil and type(message) ~= "string" then
    raise_argument(2, "assert", "string", message)
  end
  raise(message or "assertion failed!")
end

function base.pcall(...)
  expect_value(select("#", ...), "pcall")
  return finish(pcall(...))
end

-- What a handler makes of a failure; where it fails itself, that is what counts (state.go).
local function handled(handler, ok, ...)
  if ok then
    return ok, ...
  end
  local _, result = finish(pcall(handler, (...)))
  return false, result
end

function base.xpcall(call, handler)
  if type(call) ~= "function" then
    raise_argument(1, "xpcall", "function", call)
  end
  if type(handler) ~= "function" then
    raise_argument(2, "xpcall", "function", handler)
  end
  return handled(handler, finish(pcall(call)))
end

function base.print(...)
  local words = {}
  for index = 1, select("#", ...) do
    words[index] = text((select(index, ...)))
  end
  host.print(concat(words, "\t"))
end

-- pkg/resourceinterpreter/customized/declarative/luavm/lua.go
for _, name in next, {
  "collectgarbage", "dofile", "getfenv", "getmetatable", "load", "loadfile", "loadstring", "module", "newproxy",
  "rawequal", "rawget", "rawset", "setfenv", "setmetatable",
} do
  local message = "call function " .. name .. " is not supported in karmada customized resourceinterpreter."
  base[name] = function()
    raise(message)
  end
end

machine.base = base
