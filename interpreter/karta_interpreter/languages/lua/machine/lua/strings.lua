-- The string library as pkg/util/lifted/lua/string_safe.go has it.

local machine, host = ...

local type, next, select, unpack = type, next, select, table.unpack
local byte, char, find, len, lower, reverse, sub, upper =
  string.byte, string.char, string.find, string.len, string.lower, string.reverse, string.sub, string.upper
local raise, raise_argument = machine.raise, machine.raise_argument
local string_argument, integer_argument = machine.string_argument, machine.integer_argument
local number_text, text, search = machine.number_text, machine.text, machine.search

local strings = {}

function strings.byte(...)
  local value, first, last = ...
  value = string_argument(value, 1, "byte")
  first = integer_argument(first, 2, "byte", 1)
  last = integer_argument(last, 3, "byte", -1)
  if first == 0 then
    return -- position 0 is behind the end, as if it counted from there
  end
  if select("#", ...) == 2 then
    last = first
  end
  return byte(value, first, last)
end

function strings.char(...)
  local codes = { ... }
  for index = 1, select("#", ...) do
    codes[index] = integer_argument(codes[index], index, "char") % 256
  end
  return char(unpack(codes))
end

function strings.len(value)
  if type(value) == "number" then
    value = number_text(value)
  elseif type(value) ~= "string" then
    raise_argument(1, "len", "string", value)
  end
  return len(value)
end

function strings.lower(value)
  value = string_argument(value, 1, "lower")
  return find(value, "[\128-\255]") and host.lower(value) or lower(value)
end

function strings.upper(value)
  value = string_argument(value, 1, "upper")
  return find(value, "[\128-\255]") and host.upper(value) or upper(value)
end

function strings.reverse(value)
  value = string_argument(value, 1, "reverse")
  return reverse(value)
end

function strings.sub(value, first, last)
  value = string_argument(value, 1, "sub")
  first = integer_argument(first, 2, "sub")
  last = integer_argument(last, 3, "sub", -1)
  return sub(value, first, last)
end

function strings.format(...)
  local pattern = string_argument((...), 1, "format")
  local arguments, count = {}, 0
  for index = 2, select("#", ...) do
    local value = select(index, ...)
    local kind = type(value)
    arguments[count + 1] = kind
    arguments[count + 2] = (kind == "table" or kind == "function") and text(value) or value
    count = count + 2
  end
  return host.format(pattern, unpack(arguments, 1, count))
end

-- Where to begin, counted from 1, as luaIndex2StringIndex has it.
local function beginning(index, size)
  if index > 0 then
    return index
  end
  if index < 0 and size + index >= 0 then
    return size + index + 1
  end
  return 1
end

local function find_word(value, word, at)
  if at > #value + 1 then
    return nil
  end
  return find(value, word, at, true)
end

function strings.find(...)
  local value, pattern, at, plain = ...
  value = string_argument(value, 1, "find")
  pattern = string_argument(pattern, 2, "find")
  if pattern == "" then
    return 1, 0
  end
  at = beginning(integer_argument(at, 3, "find", 1), #value)
  if plain and select("#", ...) == 4 then
    return find_word(value, pattern, at)
  end
  local match = search(value, pattern, at, 1)[1]
  if not match then
    return nil
  end
  return match[1], match[2], unpack(match[3], 1, match[4])
end

local function captures(match, value)
  if match[4] == 0 then
    return sub(value, match[1], match[2])
  end
  return unpack(match[3], 1, match[4])
end

function strings.match(value, pattern, at)
  value = string_argument(value, 1, "match")
  pattern = string_argument(pattern, 2, "match")
  at = beginning(integer_argument(at, 3, "match", 1), #value)
  local match = search(value, pattern, at, 1)[1]
  if match then
    return captures(match, value)
  end
end

function strings.gmatch(value, pattern)
  value = string_argument(value, 1, "gmatch")
  pattern = string_argument(pattern, 2, "gmatch")
  local matches, index = search(value, pattern, 1, -1), 0
  return function()
    index = index + 1
    if matches[index] then
      return captures(matches[index], value)
    end
  end
end

for _, name in next, { "dump", "gsub", "rep" } do
  local message = "The Lua function string." .. name .. " is not supported by Karmada. If you believe this function is "
    .. "essential for your use case, please submit an issue to let us know why you need it."
  strings[name] = function()
    raise(message)
  end
end

machine.strings = strings
