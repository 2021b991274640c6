-- One run: a script in its own environment, and then one function of it.

local machine = ...

local type, select, unpack, xpcall, setfenv, loadstring = type, select, unpack, xpcall, setfenv, loadstring
local line, collectgarbage = machine.line, collectgarbage
local limit, unlimit, stopped = machine.limit, machine.unlimit, machine.stopped
local receive, keep, first = machine.receive, machine.keep, machine.first
local text, concat, ordered = machine.text, machine.concat, machine.ordered
local string_metatable = getmetatable("")

local place = 0

-- The error handler of a run: it notes the line while the stack is still there.
local function note(problem)
  unlimit()
  place = stopped() and 0 or line(2)
  return problem
end

local function message(problem)
  if type(problem) == "string" or type(problem) == "number" then
    return machine.as_seen(text(problem))
  end
  return "(error object is a " .. type(problem) .. " value)"
end

local has_failed = false

function machine.has_failed()
  return has_failed
end

-- Whatever went wrong, as Python wants it.
local function failure(problem)
  has_failed = true
  if problem == "not enough memory" then
    return "stopped", "memory"
  end
  if stopped() then
    return "stopped", stopped()
  end
  if type(problem) == "userdata" then
    return "python", problem
  end
  return "error", message(problem), place
end

function machine.load(source)
  local chunk, problem = loadstring(source, machine.SOURCE)
  return chunk, problem
end

-- Run a compiled script and call one of its functions with arguments that are given as tokens, for its first results.
--
-- Gives "results" with tokens, "error" with message and line, "stopped" with the reason, "missing" with what is there
-- instead of the function, or "python" with what Python raised.
function machine.run(chunk, name, wanted, seconds, kibibytes, has_karta, seed, ...)
  local environment = machine.environment(seed, has_karta)
  has_failed = false
  machine.return_all()
  local tokens, given = { ... }, select("#", ...)
  local missing
  setfenv(chunk, environment)
  limit(seconds, kibibytes)
  local ok, problem = xpcall(function()
    chunk(concat, ordered)()
    local arguments, count = receive(unpack(tokens, 1, given))
    local call = environment[name]
    if type(call) == "function" then
      keep(wanted, call(unpack(arguments, 1, count)))
    else
      missing = type(call)
    end
    unlimit()
  end, note)
  string_metatable.__index = nil
  if not ok then
    return failure(problem)
  end
  if missing then
    return "missing", missing
  end
  return "results", first()
end

function machine.memory()
  return collectgarbage("count")
end
