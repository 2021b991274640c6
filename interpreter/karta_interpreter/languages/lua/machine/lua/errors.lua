-- Errors as scripts see them: with the line of the script in front, wherever it was that something went wrong.

local machine = ...

local type, error, format, getinfo = type, error, string.format, debug.getinfo
local find, gsub, match, sub = string.find, string.gsub, string.match, string.sub

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

-- What a function of the machine's own says about an argument, in the words of gopher-lua (auxlib.go).
local function reworded(number, name, complaint)
  if complaint == "(number expected, got no value)" and (name == "max" or name == "min") then
    return "wrong number of arguments"
  end
  complaint = gsub(complaint, "got no value%)$", "got nil)")
  if name == "select" and complaint ~= "(number expected, got string)" then
    complaint = gsub(complaint, "^%(number expected", "(number or string expected")
  end
  return format("bad argument #%s to %s %s", number, name, complaint)
end

-- A message as scripts see it: without a place in a library, which says nothing to the author of a script.
function machine.as_seen(problem)
  if type(problem) ~= "string" then
    return problem
  end
  local _, last = find(problem, "^%[library%]:%d+: ")
  if last then
    problem = sub(problem, last + 1)
  end
  local place, number, name, complaint = match(problem, "^(<string>:%d+: )bad argument #(%d+) to '([^']*)' (%(.*%))$")
  if place then
    return place .. reworded(number, name, complaint)
  end
  number, complaint = match(problem, "^bad argument #(%d+) to '%?' (%(.*%))$") -- of what pcall itself has called
  return number and placed(reworded(number, "(anonymous)", complaint), line(2)) or problem
end

machine.SOURCE, machine.line, machine.placed, machine.raise = SOURCE, line, placed, raise
