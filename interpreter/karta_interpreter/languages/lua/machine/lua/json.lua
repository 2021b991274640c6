-- Values of Lua on their way out, as JSON text; what is JSON and what is not is up to gopher-json.

local machine = ...

local type, error, next, pcall, rawlen, select = type, error, next, pcall, rawlen, select
local huge = math.huge
local concat, find, format, gsub = table.concat, string.find, string.format, string.gsub
local is_index, number_text, whole = machine.is_index, machine.number_text, machine.whole
local materialize, rest_of, unread = machine.materialize, machine.rest, machine.unread

local DEEPEST = 200 -- levels of a result: more than any JSON text that the rest of the program reads
local EXACT = 2 ^ 53
local MOST_WORDS, LONGEST_WORD = 1000, 64

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\" }
for code = 0, 31 do
  ESCAPES[string.char(code)] = format("\\u%04x", code)
end

local visited, may_share

local function quoted(text)
  if find(text, '[%z\1-\31"\\]') then
    text = gsub(text, '[%z\1-\31"\\]', ESCAPES)
  end
  return '"' .. text .. '"'
end

local words, count = {}, 0 -- names of fields with what stands around them, most of which scripts write again

local function name_json(name)
  local word = quoted(name) .. ":"
  if #name <= LONGEST_WORD then
    if count == MOST_WORDS then
      words, count = {}, 0
    end
    words[name], count = word, count + 1
  end
  return word
end

-- A number as Go writes it: an integer in full, with the fewest digits that mean it.
local function number_json(number)
  if number % 1 == 0 and number <= EXACT and number >= -EXACT then
    return format("%d", number)
  end
  if number ~= number or number == huge or number == -huge then
    error("json: unsupported value: " .. number_text(number), 0)
  end
  return number % 1 == 0 and whole(number) or format("%.17g", number)
end

local function kinds(object)
  local array, highest, numbers, others = 0, 0, 0, 0
  for key in next, object do
    if type(key) ~= "number" then
      others = others + 1
    elseif is_index(key) then
      array, highest = array + 1, highest > key and highest or key
    else
      numbers = numbers + 1
    end
  end
  return array, highest, numbers, others
end

-- Why a table is neither an array nor an object; gopher-json meets the keys 1, 2, 3 ... first.
local function complaint(object)
  materialize(object) -- fields that are not converted have keys, too
  local array, highest, numbers, others = kinds(object)
  if array < highest or (array > 0 or numbers > 0) and others == 0 then
    return "cannot encode sparse array"
  end
  return "cannot encode mixed or invalid key types"
end

local value_json

local function array_json(object, size, depth)
  local entries = 0
  for _ in next, object do
    entries = entries + 1
  end
  if entries ~= size then
    error(complaint(object), 0)
  end
  local parts = {}
  for index = 1, size do
    local value = object[index]
    if value == nil then
      error(complaint(object), 0)
    end
    parts[index] = value_json(value, depth)
  end
  return "[" .. concat(parts, ",") .. "]"
end

-- `rest` is the text of fields that are not converted.
local function object_json(object, rest, depth)
  local parts, size = { rest }, rest == "" and 0 or 1
  for key, value in next, object do
    if type(key) ~= "string" then
      error(complaint(object), 0)
    end
    size = size + 1
    parts[size] = (words[key] or name_json(key)) .. value_json(value, depth)
  end
  return size == 0 and "[]" or "{" .. concat(parts, ",", 1, size) .. "}"
end

-- To gopher-json a table is recursive when it is in a value twice, on whatever way.
local function table_json(object, depth)
  if visited[object] then
    error("cannot encode recursively nested tables to JSON", 0)
  end
  if depth > DEEPEST then
    error("a value is nested deeper than " .. DEEPEST .. " tables", 0)
  end
  visited[object] = true
  local size, text = rawlen(object)
  if size == 0 then
    text = object_json(object, rest_of(object), depth + 1)
  else
    materialize(object)
    text = array_json(object, size, depth + 1)
  end
  if may_share then
    visited[object] = nil
  end
  return text
end

function value_json(value, depth)
  local kind = type(value)
  if kind == "string" then
    return quoted(value)
  elseif kind == "table" then
    return table_json(value, depth)
  elseif kind == "number" then
    return number_json(value)
  elseif kind == "boolean" then
    return value and "true" or "false"
  end
  error("cannot encode " .. kind .. " to JSON", 0)
end

local function whole_json(object)
  visited = {}
  return table_json(object, 1)
end

-- The kind and the value of each of `count` values, one after the other; a table is its JSON text, an object in arguments
-- that is as it was given its number.
--
-- What is not JSON is an error; in arguments of a function of Karmada's, which may have other complaints about them before
-- that one, it is of the kind "problem".
local function give_all(count, is_result, is_lenient, ...)
  local given = {}
  for index = 1, count do
    local value = (select(index, ...))
    local kind = type(value)
    if kind == "table" and unread(value) and not is_result then
      kind, value = "unread", unread(value)
    elseif kind == "table" and is_lenient then
      local ok, result = pcall(whole_json, value)
      if not ok and (type(result) ~= "string" or result == "not enough memory") then
        error(result, 0)
      end
      kind, value = ok and "table" or "problem", result
    elseif kind == "table" then
      value = whole_json(value)
    elseif kind == "function" then
      if may_share then
        error("cannot encode function to JSON", 0)
      end
      value = true
    elseif kind == "number" and may_share then
      number_json(value) -- which is an error for what is not JSON
    end
    given[2 * index - 1], given[2 * index] = kind, value
  end
  return given, 2 * count
end

-- The results of a run, as many as are wanted.
function machine.give_results(wanted, ...)
  local count = select("#", ...)
  may_share = false
  return give_all(count < wanted and count or wanted, true, false, ...)
end

-- The arguments of a function of Karmada's.
function machine.give_leniently(...)
  may_share = false
  return give_all(select("#", ...), false, true, ...)
end

-- The arguments of a function of the Karta's own: a table may be in a value twice, but not in itself.
function machine.give(...)
  may_share = true
  return give_all(select("#", ...), false, false, ...)
end
