-- Lua patterns as gopher-lua's package pm reads them: a list of items, each with its kind.

local machine = ...

local setmetatable, tonumber, raise = setmetatable, tonumber, machine.raise
local byte, char, find, lower, sub, upper =
  string.byte, string.char, string.find, string.lower, string.sub, string.upper

local function complain(message, place)
  raise(message .. " at " .. place)
end

local CLASSES = {
  a = "%a", c = "%c", d = "%d", l = "%l", p = "%p", s = "%s", u = "%u", w = "%w", x = "%x", z = "%z",
}

-- The test for a class like %a; other characters stand for themselves.
local function class(letter)
  local small = letter and CLASSES[lower(letter)]
  if not small then
    return function(code)
      return char(code) == letter
    end
  end
  local pattern = "^" .. (letter == lower(letter) and small or upper(small))
  return function(code)
    return find(char(code), pattern) ~= nil
  end
end

local function single(letter)
  local code = byte(letter)
  return function(other)
    return other == code
  end, code
end

local function range(first, last)
  return function(code)
    return first ~= nil and last ~= nil and first <= code and code <= last
  end
end

local function any()
  return true
end

-- One member of a set, and for a plain character its code, which a range can begin or end with.
local function read_member(pattern, at)
  local letter = sub(pattern, at, at)
  if letter == "%" then
    return class(sub(pattern, at + 1, at + 1)), nil, at + 2
  end
  local test, code = single(letter)
  return test, code, at + 1
end

-- A set, from behind its bracket.
local function read_set(pattern, at)
  local negated = sub(pattern, at, at) == "^"
  if negated then
    at = at + 1
  end
  local tests, codes, in_range = {}, {}, false
  while true do
    local letter = sub(pattern, at, at)
    if letter == "" then
      complain("unexpected EOS", sub(pattern, -1) == "%" and "EOS" or #pattern - 1)
    end
    if letter == "]" and #tests > 0 then
      break
    end
    if letter == "-" and #tests > 0 then
      in_range, at = true, at + 1
    else
      local count = #tests + 1
      tests[count], codes[count], at = read_member(pattern, at)
      if in_range then
        tests[count - 1], tests[count] = range(codes[count - 1], codes[count]), nil
        codes[count - 1], codes[count], in_range = nil, nil, false
      end
    end
  end
  if in_range then
    tests[#tests + 1] = single("-")
  end
  return function(code)
    for index = 1, #tests do
      if tests[index](code) then
        return not negated
      end
    end
    return negated
  end, at + 1
end

local function read_class(pattern, at)
  local letter = sub(pattern, at, at)
  if letter == "." then
    return any, at + 1
  end
  if letter == "[" then
    return read_set(pattern, at + 1)
  end
  local test, _, behind = read_member(pattern, at)
  return test, behind
end

-- A test as a table by character, filled as it is asked.
local function remembered(test)
  return setmetatable({}, {
    __index = function(answers, code)
      local answer = test(code)
      answers[code] = answer
      return answer
    end,
  })
end

local REPEATED = { ["*"] = true, ["+"] = true, ["-"] = true, ["?"] = true }

local function read_escape(pattern, at)
  local letter = sub(pattern, at + 1, at + 1)
  if letter == "0" then
    complain("invalid capture index", at - 1)
  end
  if find(letter, "^%d$") then
    return { kind = "back", capture = tonumber(letter) }, at + 2
  end
  if letter == "b" then
    return { kind = "balance", first = byte(pattern, at + 2), last = byte(pattern, at + 3) }, at + 4
  end
  return { kind = "one", set = remembered(class(letter)) }, at + 2
end

local read_items

local function read_capture(pattern, at, captures)
  captures.count = captures.count + 1
  local number = captures.count
  if sub(pattern, at, at) == ")" then
    return { kind = "position", capture = number }, at + 1
  end
  local items, behind = read_items(pattern, at, captures, false)
  if sub(pattern, behind, behind) ~= ")" then
    complain("unfinished capture", "EOS")
  end
  return { kind = "capture", capture = number, items = items }, behind + 1
end

local function read_item(pattern, at, letter, captures)
  if letter == "%" then
    return read_escape(pattern, at)
  end
  if letter == "(" then
    return read_capture(pattern, at + 1, captures)
  end
  local test, behind = read_class(pattern, at)
  return { kind = "one", set = remembered(test) }, behind
end

-- The items up to the end of the pattern, or of a capture in it.
function read_items(pattern, at, captures, outermost)
  local items = {}
  while true do
    local letter = sub(pattern, at, at)
    local last = items[#items]
    if letter == "" or letter == ")" and not outermost then
      return items, at
    elseif letter == ")" then
      complain("invalid ')'", at - 1)
    elseif REPEATED[letter] and last and last.kind == "one" then
      last.kind, at = letter, at + 1
    elseif letter == "$" and outermost and at == #pattern then
      items[#items + 1], at = { kind = "end" }, at + 1
    else
      items[#items + 1], at = read_item(pattern, at, letter, captures)
    end
  end
end

-- The items of a pattern, whether it matches at the beginning only, and the number of its captures.
function machine.read_pattern(pattern)
  local captures = { count = 0 }
  local anchored = sub(pattern, 1, 1) == "^"
  local items = read_items(pattern, anchored and 2 or 1, captures, true)
  return items, anchored, captures.count
end
