-- One run: a script in its own environment, and then one function of it.

local machine, host = ...

local type, select, unpack, xpcall, load, dump = type, select, table.unpack, xpcall, load, string.dump
local setupvalue, sub = debug.setupvalue, string.sub
local converted, line, text, concat, ordered, give_results =
  machine.converted, machine.line, machine.text, machine.concat, machine.ordered, machine.give_results
local string_metatable = getmetatable("")

local LONGEST_MESSAGE = 8192 -- bytes: nobody reads more of it, and it may be of any length

local place = 0

-- The error handler of a run: it notes the line while the stack is still there.
local function note(problem)
  place = line(2)
  return problem
end

local function message(problem)
  if type(problem) == "string" or type(problem) == "number" then
    local seen = machine.as_seen(text(problem))
    return #seen > LONGEST_MESSAGE and sub(seen, 1, LONGEST_MESSAGE) .. " ..." or seen
  end
  return "(error object is a " .. type(problem) .. " value)"
end

-- Whatever went wrong, as Python wants it.
local function failure(problem)
  if problem == "not enough memory" then
    return "memory", ""
  end
  if type(problem) == "userdata" then
    return "python", problem
  end
  return "error", message(problem), place
end

-- The bytecode of a script, or nil and the problem.
function machine.compiled(source)
  local chunk, problem = load(source, machine.SOURCE, "t")
  if not chunk then
    return nil, problem
  end
  return dump(chunk)
end

-- A script as a function, or nil and the problem.
function machine.load(source)
  local bytecode, problem = machine.compiled(source)
  if not bytecode then
    return nil, problem
  end
  return load(host.as_karmada_compiles(bytecode), machine.SOURCE, "b")
end

-- Run a loaded script and call one of its functions for its first results; each argument is a value and its kind.
--
-- Gives "results" with their number and a kind and a value for each, "error" with message and line, "memory", "missing"
-- with what is there instead of the function, or "python" with what Python raised.
function machine.run(chunk, name, wanted, has_karta, seed, ...)
  machine.reset()
  local environment = machine.environment(seed, has_karta)
  -- The first upvalue of a chunk is its _ENV: one compiled chunk serves all runs.
  setupvalue(chunk, 1, environment)
  local arguments, count = { ... }, select("#", ...) / 2
  for index = 1, count do
    arguments[index] = converted(arguments[2 * index - 1], arguments[2 * index])
  end
  local missing, given, size
  local ok, problem = xpcall(function()
    chunk(concat, ordered)()
    local call = environment[name]
    if type(call) == "function" then
      given, size = give_results(wanted, call(unpack(arguments, 1, count)))
    else
      missing = type(call)
    end
  end, note)
  -- The string library of this run may hold what the script has put there.
  string_metatable.__index = nil
  if not ok then
    return failure(problem)
  end
  if missing then
    return "missing", missing
  end
  return "results", size, unpack(given, 1, size)
end
