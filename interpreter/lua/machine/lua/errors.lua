-- Errors as scripts see them: with the line of the script in front, wherever it was that something went wrong.

local machine = ...

local type, error, format, getinfo = type, error, string.format, debug.getinfo
local find, gsub, sub = string.find, string.gsub, string.sub

local SOURCE = "=<string>" -- what gopher-lua calls a script that was not read from a file

-- The line of the script that is at work, counted from the caller of the caller; 0 when there is none.
local function line(from)
  for level = from, 250 do
    local info = getinfo(level, "Sl")
    if not info then
      return 0
    end
    if info.source == SOURCE then
      return info.currentline
    end
  end
  return 0
end

-- A message with a line in front, where one is known: a tail call leaves no trace of its function.
local function placed(message, number)
  return number == 0 and message or format("<string>:%d: %s", number, message)
end

-- End the function of a library with a message.
local function raise(message)
  error(placed(message, line(3)), 0)
end

-- End it because of an argument, which is nil where there is none.
function machine.raise_argument(position, name, expected, value)
  raise(format("bad argument #%d to %s (%s expected, got %s)", position, name, expected, type(value)))
end

-- A message as scripts see it: without a place in a library, which says nothing to the author of a script, and where a
-- function of the machine's own complains about an argument, in the words of gopher-lua (auxlib.go).
function machine.as_seen(problem)
  if type(problem) ~= "string" then
    return problem
  end
  local _, last = find(problem, "^%[library%]:%d+: ")
  if last then
    problem = sub(problem, last + 1)
  end
  local worded, count = gsub(problem, "^(<string>:%d+: bad argument #%d+ to )'([^']*)'( %(.*%))$", "%1%2%3")
  return count == 1 and (gsub(worded, "got no value%)$", "got nil)")) or problem
end

machine.SOURCE, machine.line, machine.placed, machine.raise = SOURCE, line, placed, raise
