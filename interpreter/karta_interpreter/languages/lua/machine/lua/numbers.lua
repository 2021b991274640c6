-- Numbers as text, and text as numbers, as gopher-lua has them (value.go, utils.go and baselib.go).

local machine = ...

local type, tostring, tonumber, format = type, tostring, tonumber, string.format
local setmetatable, raise, raise_argument = setmetatable, machine.raise, machine.raise_argument
local byte, find, gsub, lower, rep, sub =
  string.byte, string.find, string.gsub, string.lower, string.rep, string.sub

local INT64 = 2 ^ 63
local SMALLEST_NORMAL = 2 ^ -1022

-- The fewest digits that read back as the same number. %g leaves zeros at the end out, so one with fewer than 15 digits is
-- found at 15, but for the numbers below the normal ones, which are less exact.
local function shortest(number)
  local from = (number < SMALLEST_NORMAL and number > -SMALLEST_NORMAL) and 1 or 15
  for digits = from, 16 do
    local text = format("%." .. digits .. "g", number)
    if tonumber(text) == number then
      return text
    end
  end
  return format("%.17g", number)
end

-- Mantissa digits and exponent in the form that fmt.Sprint chooses.
local function sprint(number)
  local text = shortest(number)
  local _, _, sign, whole, fraction, exponent = find(text, "^(%-?)(%d+)%.?(%d*)e([%+%-]%d+)$")
  if not exponent then
    _, _, sign, whole, fraction = find(text, "^(%-?)(%d+)%.?(%d*)$")
    exponent = 0
  end
  local digits = gsub(whole .. fraction, "^0+", "")
  local power = exponent + #digits - #fraction - 1
  if power >= -4 and power < 6 then
    return machine.fixed(sign, gsub(digits, "0+$", ""), power)
  end
  digits = gsub(digits, "0+$", "")
  local rest = #digits > 1 and "." .. sub(digits, 2) or ""
  return format("%s%s%se%+03d", sign, sub(digits, 1, 1), rest, power)
end

-- The number 0.digits times ten to the power plus one, without an exponent.
function machine.fixed(sign, digits, power)
  if power < 0 then
    return sign .. "0." .. rep("0", -power - 1) .. digits
  end
  if #digits <= power + 1 then
    return sign .. digits .. rep("0", power + 1 - #digits)
  end
  return sign .. sub(digits, 1, power + 1) .. "." .. sub(digits, power + 2)
end

local function number_text(number)
  if number >= -INT64 and number < INT64 and number % 1 == 0 then
    return format("%d", number)
  end
  if number ~= number then
    return "NaN"
  end
  if number - number ~= 0 then
    return number > 0 and "+Inf" or "-Inf"
  end
  return sprint(number)
end

local function text(value)
  if type(value) == "number" then
    return number_text(value)
  end
  return tostring(value)
end

-- Whether digits are those of an integer of 64 bits.
local function is_int64(sign, digits)
  digits = gsub(digits, "^0+", "")
  local largest = sign == "-" and "9223372036854775808" or "9223372036854775807"
  return #digits < #largest or #digits == #largest and digits <= largest
end

-- What tonumber takes without a base: digits with a sign, 0x and hexadecimal digits, or text with a point.
local function parse(word)
  if find(word, ".", 1, true) then
    local number = not find(word, "[^%d%.eE%+%-]") and tonumber(word) -- without names and hexadecimal digits
    return number and number - number == 0 and number or nil
  end
  local _, _, sign, digits = find(word, "^([%+%-]?)(%d+)$")
  if digits then
    return is_int64(sign, digits) and tonumber(word) or nil
  end
  local number = find(word, "^0[xX]%x+$") and tonumber(word)
  return number and number < INT64 and number or nil
end

local function parse_in(word, base)
  local _, _, sign, digits = find(lower(word), "^([%+%-]?)(%w+)$")
  if not digits or base < 2 or base > 36 or base == 16 and find(digits, "^0x") then
    return nil
  end
  local number = tonumber(digits, base)
  if not number or number >= INT64 then
    return nil
  end
  return sign == "-" and -number or number
end

local BLANK = { [byte(" ")] = true, [byte("\n")] = true, [byte("\t")] = true }

-- A text without blanks around it: a pattern that took them off would take a time that grows with their square.
local function trimmed(value)
  local first, last = find(value, "[^ \n\t]"), #value
  if not first then
    return ""
  end
  while BLANK[byte(value, last)] do
    last = last - 1
  end
  return sub(value, first, last)
end

function machine.to_number(value, base)
  if base ~= nil and type(base) ~= "number" then
    raise_argument(2, "tonumber", "number", base)
  end
  if type(value) ~= "string" then
    return type(value) == "number" and value or nil
  end
  local word = trimmed(value)
  if base == nil or find(word, ".", 1, true) then
    return parse(word)
  end
  return parse_in(word, base)
end

local function joined(left, right)
  local kind, other = type(left), type(right)
  if kind == "number" then
    left = number_text(left)
  elseif kind ~= "string" then
    raise("cannot perform concat operation between " .. kind .. " and " .. other)
  end
  if other == "number" then
    right = number_text(right)
  elseif other ~= "string" then
    raise("cannot perform concat operation between " .. kind .. " and " .. other)
  end
  return left .. right
end

-- The operator `..`, because the machine's own formats numbers otherwise: `a .. b` is rewritten to `a .. concat .. b`. The
-- operator joins from the right, so `concat` keeps what is on its right until, at once, what is on its left is there.
local kept
local Right = setmetatable({}, {
  __concat = function(left)
    return joined(left, kept)
  end,
})
machine.concat = setmetatable({}, {
  __concat = function(_, right)
    kept = right
    return Right
  end,
})

-- An integer beyond 2^53 in full, as far as it has 64 bits.
function machine.whole(number)
  if number < -INT64 or number >= 2 * INT64 then
    return format("%.17g", number)
  end
  local text = shortest(number)
  local _, _, sign, digit, digits, exponent = find(text, "^(%-?)(%d)%.?(%d*)e%+(%d+)$")
  return exponent and sign .. digit .. digits .. rep("0", exponent - #digits) or text
end

machine.number_text, machine.text = number_text, text
