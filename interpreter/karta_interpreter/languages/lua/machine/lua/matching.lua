-- Lua patterns as gopher-lua's package pm matches them.
--
-- It is written in Lua, so that a pattern which takes forever is stopped like every other loop; the machine's own
-- functions for patterns cannot be interrupted, and differ from gopher-lua's in corners (%f, ^ in gmatch).
-- A pattern becomes a chain of closures: each takes a position in the text, and gives the position after a match of
-- itself and of everything behind it, or nil.

local machine = ...

local byte, sub, raise = string.byte, string.sub, machine.raise

local text, size -- what is searched
local opened, closed -- where captures begin and end; a capture of a position has no end

local STEPS = {}

STEPS["one"] = function(item, following)
  local set = item.set
  return function(at)
    if at <= size and set[byte(text, at)] then
      return following(at + 1)
    end
    return nil
  end
end

-- As many as there are, then fewer, but not fewer than `least`.
local function greedy(least, most)
  return function(item, following)
    local set = item.set
    return function(at)
      local to, last = at, most and at + most or size + 1
      while to <= size and to < last and set[byte(text, to)] do
        to = to + 1
      end
      for behind = to, at + least, -1 do
        local found = following(behind)
        if found then
          return found
        end
      end
      return nil
    end
  end
end

STEPS["*"], STEPS["+"], STEPS["?"] = greedy(0), greedy(1), greedy(0, 1)

STEPS["-"] = function(item, following)
  local set = item.set
  return function(at)
    while true do
      local found = following(at)
      if found then
        return found
      end
      if at > size or not set[byte(text, at)] then
        return nil
      end
      at = at + 1
    end
  end
end

STEPS["end"] = function(_, following)
  return function(at)
    return at > size and following(at) or nil
  end
end

STEPS["position"] = function(item, following)
  local capture = item.capture
  return function(at)
    opened[capture], closed[capture] = at, false
    return following(at)
  end
end

STEPS["back"] = function(item, following)
  local capture = item.capture
  return function(at)
    local first, last = opened[capture], closed[capture]
    if last == nil then
      raise("invalid capture index")
    end
    local word = last and sub(text, first, last) or ""
    if sub(text, at, at + #word - 1) == word then
      return following(at + #word)
    end
    return nil
  end
end

STEPS["balance"] = function(item, following)
  local first, last = item.first, item.last
  return function(at)
    if at > size or byte(text, at) ~= first then
      return nil
    end
    local depth = 1
    for behind = at + 1, size do
      local code = byte(text, behind)
      if code == last then
        depth = depth - 1
      end
      if depth == 0 then
        return following(behind + 1)
      end
      if code == first then
        depth = depth + 1
      end
    end
    return nil
  end
end

-- A step that notes where a capture begins or ends, and takes it back where nothing behind it matches.
local function noting(capture, is_end, following)
  return function(at)
    local places = is_end and closed or opened
    local before, place = places[capture], is_end and at - 1 or at
    places[capture] = place
    local found = following(at)
    if not found then
      places[capture] = before
    end
    return found
  end
end

local function chain(items, following)
  for index = #items, 1, -1 do
    local item = items[index]
    if item.kind == "capture" then
      following = noting(item.capture, true, following)
      following = noting(item.capture, false, chain(item.items, following))
    else
      following = STEPS[item.kind](item, following)
    end
  end
  return following
end

local function whole(at)
  return at
end

local function compile(pattern)
  local items, anchored, captures = machine.read_pattern(pattern)
  return { match = chain(items, whole), anchored = anchored, captures = captures }
end

local MOST_COMPILED = 100
local compiled, count = {}, 0

local function compiled_pattern(pattern)
  local found = compiled[pattern]
  if not found then
    if count >= MOST_COMPILED then
      compiled, count = {}, 0
    end
    found = compile(pattern)
    compiled[pattern], count = found, count + 1
  end
  return found
end

-- The captures of a match as an array of strings and positions.
local function captured(number)
  local values = {}
  for index = 1, number do
    local last = closed[index]
    values[index] = last and sub(text, opened[index], last) or opened[index]
  end
  return values
end

-- At most `limit` matches from a position on, each {first, last, captures, how many}.
function machine.search(subject, pattern, at, limit)
  local program = compiled_pattern(pattern)
  text, size = subject, #subject
  local matches = {}
  while at <= size + 1 do
    opened, closed = {}, {}
    local behind = program.match(at)
    if behind then
      local number = program.captures
      matches[#matches + 1] = { at, behind - 1, captured(number), number }
    end
    at = behind and behind > at and behind or at + 1
    if program.anchored or #matches == limit then
      break
    end
  end
  return matches
end
