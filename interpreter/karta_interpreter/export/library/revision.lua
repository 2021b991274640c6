local unbounded = 2147483647

-- The value that an expression computes from the field at its place.
local function read_place(place, obj)
  local value = value_at(obj, place.path)
  if not value and place.default ~= nil then value = place.default end
  if with.numeral and place.numeral then value = to_number(value) end
  if with.times and place.factor ~= 1 and value ~= nil then value = multiply(value, place.factor) end
  if with.limited_by and place.floor and is_below(value, place.floor) then value = place.floor end
  if with.limited_by and place.cap and is_above(value, place.cap) then value = place.cap end
  return value
end

local function set_place(place, obj, value)
  local known, path = value_at(obj, place.path) or place.default, place.path
  local of_texts = path[#path - 2] == "metadata" and (path[#path - 1] == "annotations" or path[#path - 1] == "labels")
  if type(value) == "number" and (type(known) == "string" or of_texts) then value = number_text(value) end
  write_at(obj, path, value)
end

-- Writes the field so that the expression has a number as its value.
local function write_place(place, obj, number)
  local value = read_place(place, obj)
  if value == number or value == number_text(number) then return end
  local is_bound = number == place.floor or number == place.cap
  local is_beyond = number > (place.cap or number) or number < (place.floor or number)
  if #place.path == 0 or place.factor == 0 or is_beyond or (number % place.factor ~= 0 and not is_bound) then
    error("the number " .. number .. " cannot be written", 0)
  end
  local units = number / place.factor
  set_place(place, obj, number == place.cap and math.ceil(units) or math.floor(units))
end

-- Karmada asks for 0 replicas until its scheduler has found room for the workload.
local function refuse_emptying(replicas)
  if replicas == 0 then error("Karmada has given the cluster no replicas; what runs there stays", 0) end
end

-- Whether the number of an unset field is written.
local function write_default(place, obj, units)
  local parent = value_at(obj, place.path, #place.path - 1)
  local is_number = place.default ~= nil and (units ~= 0 or not place.floor)
  if value_at(obj, place.path) ~= nil or parent == nil or not is_number then return false end
  set_place(place, obj, units)
  return true
end

local function places(find, obj)
  if not find then return {} end
  local _, origins = find(obj)
  local found = {}
  for i, origin in pairs(origins.parts) do
    if is_place(origin) then found[i] = origin end
  end
  return found
end

-- The number of each instance, and the place that it is read from.
local function counts_and_places(component, find, obj, size, may_lack)
  local numbers, found = {}, {}
  if not find then return numbers, found end
  local values, origins = find(obj)
  values = aligned(component, values, size, may_lack)
  for i = 1, size do
    numbers[i] = count(component.name, values[i])
    if is_place(origins.parts[i]) then found[i] = origins.parts[i] end
  end
  return numbers, found
end

-- The pod sets with their counts, and the places where these are written.
local function scales_of(components, obj)
  local scales = {}
  for _, component in ipairs(components) do
    local ids = with.ids and instance_ids(component, obj) or {""}
    local found = pod_specs(component, obj, #ids)
    if next(found) ~= nil then
      local replicas, replicas_places = counts_and_places(component, component.replicas, obj, #ids, false)
      local minimum, minimum_places, maximum, maximum_places = with.bounds and {}, {}, {}, {}
      if with.minimum then minimum, minimum_places = counts_and_places(component, component.minimum, obj, #ids, true) end
      if with.maximum then maximum, maximum_places = counts_and_places(component, component.maximum, obj, #ids, true) end
      for i = 1, #ids do
        if found[i] then
          scales[#scales + 1] = {
            component = component,
            instance = ids[i],
            pods = with.bounds and (replicas[i] or minimum[i] or 1) or replicas[i] or 1,
            minimum = with.bounds and minimum[i],
            maximum = with.bounds and maximum[i],
            minimum_place = with.bounds and minimum_places[i],
            maximum_place = with.bounds and maximum_places[i],
            place = with.bounds and (replicas_places[i] or not replicas[i] and minimum_places[i]) or replicas_places[i],
            replicas_place = replicas_places[i],
          }
        end
      end
    end
  end
  return scales
end

-- Whether every place of a count has a value; false where the expression fails.
local function is_complete(find, obj)
  local is_right, found = pcall(places, find, obj)
  for _, place in pairs(is_right and found or {}) do
    if value_at(obj, place.path) == nil then return false end
  end
  return is_right
end

-- Whether the pods of a component have a count that the object leaves unset.
local function leaves_count_unset(components, obj)
  for _, component in ipairs(components) do
    local is_set = is_complete(component.replicas, obj)
    if with.minimum and is_set then is_set = is_complete(component.minimum, obj) end
    if not is_set then
      local ids = with.ids and instance_ids(component, obj) or {""}
      for i in pairs(pod_specs(component, obj, #ids)) do
        local place = places(component.replicas, obj)[i]
        if with.minimum and not place then place = places(component.minimum, obj)[i] end
        if place and value_at(obj, place.path) == nil then return true end
      end
    end
  end
  return false
end

local function sum_of_pods(scales)
  local sum = 0
  for _, scale in ipairs(scales) do sum = sum + scale.pods end
  return sum
end

-- The object, which has to have that total number of pods already.
local function undivided(pod_sets, obj, replicas)
  local scales = with.lone and pod_sets(obj) or scales_of(pod_sets, obj)
  local pods = sum_of_pods(scales)
  if pods == replicas then return obj end
  local reason = "it has " .. pods .. ", and its definition does not let them be divided"
  error("cannot set " .. replicas .. " replicas: " .. reason .. " (karta-interpreter.io/elastic: none)", 0)
end

-- Marks the pod sets whose count may change: those of the elastic components, if the definition names them; else the
-- only pod set, those with bounds, or those with more than one pod.
local function mark_elastic(scales, elastic)
  local has_bounds = false
  for _, scale in ipairs(scales) do
    scale.is_bounded = scale.component.minimum ~= nil or scale.component.maximum ~= nil
    if scale.is_bounded then has_bounds = true end
  end
  for _, scale in ipairs(scales) do
    if elastic then
      local name = scale.component.name
      scale.is_elastic = elastic[name] or elastic[name .. "/" .. scale.instance] or false
    else
      scale.is_elastic = #scales == 1 or (has_bounds and scale.is_bounded) or (not has_bounds and scale.pods > 1)
    end
  end
end

local function path_key(path)
  local found = {}
  for i, key in ipairs(path) do found[i] = type(key) == "number" and "#" .. key or "." .. key end
  return table.concat(found, "\0")
end

local function target_of(sharing)
  local target = {scales = sharing, step = 0, least = 0, most = unbounded}
  for _, scale in ipairs(sharing) do
    local place = scale.place
    if place.factor > 0 then
      local minimum, maximum = with.bounds and scale.minimum, scale.maximum
      if with.bounds and not scale.replicas_place then
        minimum = nil
        if scale.maximum_place then maximum = nil end
      end
      local least, most = math.max(0, place.floor or 0), math.min(unbounded, place.cap or unbounded)
      if with.bounds then least, most = math.max(least, minimum or 0), math.min(most, maximum or unbounded) end
      if target.step == 0 then
        target.units = math.floor(scale.pods / place.factor)
        target.least = math.ceil(least / place.factor)
        target.most = math.floor(most / place.factor)
        target.first = scale
      end
      target.step = target.step + place.factor
      target.least = math.max(target.least, math.ceil(least / place.factor))
      target.most = math.min(target.most, math.floor(most / place.factor))
    end
  end
  return target
end

-- The places that scale an elastic pod set; pod sets with the same place are scaled together.
local function targets_of(scales)
  local groups, order, targets = {}, {}, {}
  for _, scale in ipairs(scales) do
    if scale.place then
      local key = path_key(scale.place.path)
      if not groups[key] then
        groups[key] = {}
        order[#order + 1] = key
      end
      groups[key][#groups[key] + 1] = scale
    end
  end
  for _, key in ipairs(order) do
    local is_elastic, can_move = false, false
    for _, scale in ipairs(groups[key]) do
      is_elastic = is_elastic or scale.is_elastic
      can_move = can_move or scale.place.factor > 0
    end
    if is_elastic and can_move then targets[#targets + 1] = target_of(groups[key]) end
  end
  return targets
end

local function common_multiple(a, b)
  local x, y = a, b
  while y > 0 do x, y = y, x % y end
  return a / x * b
end

local function exact(value)
  if value >= 2 ^ 53 then error("the numbers of pods are too large to be divided", 0) end
  return value
end

-- The proportional share of each target, in fractions of which `unit` make a whole.
local function proportional(rest, targets)
  local weights, sum, step = {}, 0, 1
  for i, target in ipairs(targets) do
    weights[i] = target.units * target.step
    sum = sum + weights[i]
    step = common_multiple(step, target.step)
  end
  if sum == 0 then
    sum = #targets
    for i in ipairs(targets) do weights[i] = 1 end
  end
  local parts_of = {}
  for i, target in ipairs(targets) do parts_of[i] = exact(rest * weights[i] * (step / target.step)) end
  return parts_of, math.max(exact(sum * step), 1)
end

local function bound_of(amount, unit, target)
  if amount > target.most * unit then return target.most end
  if amount < target.least * unit then return math.min(target.least, target.most) end
  return nil
end

-- The proportional shares within the bounds: a share beyond a bound is set to it, and the rest is divided again.
local function ideal_shares(total_pods, targets)
  local pinned = {}
  while true do
    local free, indices, rest = {}, {}, total_pods
    for i, target in ipairs(targets) do
      if pinned[i] then
        rest = rest - pinned[i] * target.step
      else
        free[#free + 1] = target
        indices[#indices + 1] = i
      end
    end
    local shares, unit = proportional(rest, free)
    local bounds, excess, balance, is_beyond = {}, {}, 0, false
    for i, target in ipairs(free) do
      bounds[i] = bound_of(shares[i], unit, target)
      if bounds[i] then
        excess[i] = bounds[i] * unit - shares[i]
        balance = balance + excess[i] * target.step
      end
    end
    for i in ipairs(free) do
      if bounds[i] and excess[i] * (balance ~= 0 and balance or excess[i]) > 0 then
        pinned[indices[i]] = bounds[i]
        is_beyond = true
      end
    end
    if not is_beyond then
      local ideals = {}
      for i, units in pairs(pinned) do ideals[i] = units * unit end
      for i, index in ipairs(indices) do ideals[index] = ideals[index] or shares[i] end
      return ideals, unit
    end
  end
end

-- Rounds down, then adds one where the remainder is largest; nil if the shares do not add up to the total.
local function rounded_shares(total_pods, targets, ideals, unit)
  local units, order, left = {}, {}, total_pods
  for i, target in ipairs(targets) do
    units[i] = math.floor(ideals[i] / unit)
    order[i] = i
    left = left - units[i] * target.step
  end
  table.sort(order, function(a, b)
    local x, y = ideals[a] % unit, ideals[b] % unit
    if x == y then return a < b end
    return x > y
  end)
  for _, i in ipairs(order) do
    if targets[i].step <= left and units[i] < targets[i].most then
      units[i] = units[i] + 1
      left = left - targets[i].step
    end
  end
  return left == 0 and units or nil
end

-- Whether a list of numbers comes before another one of the same length.
local function is_before(numbers, others)
  for i, number in ipairs(numbers) do
    if number ~= others[i] then return number < others[i] end
  end
  return false
end

-- The units of each class of targets with the same step: those that add up to the total, closest to the ideal shares.
local function closest_units(total_pods, classes, unit)
  local reach = ({[2] = 1024, [3] = 128, [4] = 64})[#classes] or math.max(2, math.min(16, math.floor(256 / #classes)))
  local most = math.max(16, math.min(500, math.floor(10000 / #classes)))
  local best = {{pods = 0, cost = 0, units = {}}}
  for number = 1, #classes - 1 do
    local class, found, order = classes[number], {}, {}
    local middle = math.floor(class.ideal / unit)
    for _, way in ipairs(best) do
      for units = math.max(class.least, middle - reach), math.min(class.most, middle + reach) do
        local pods = way.pods + units * class.step
        local cost = way.cost + math.abs(units * unit - class.ideal) * class.step
        if not found[pods] then
          order[#order + 1] = pods
          found[pods] = {pods = pods, cost = cost, units = joined(way.units, {units}), place = #order}
        elseif cost < found[pods].cost then
          found[pods] = {pods = pods, cost = cost, units = joined(way.units, {units}), place = found[pods].place}
        end
      end
    end
    best = {}
    for i, pods in ipairs(order) do best[i] = found[pods] end
    table.sort(best, function(a, b)
      if a.cost == b.cost then return a.place < b.place end
      return a.cost < b.cost
    end)
    for i = #best, most + 1, -1 do best[i] = nil end
  end
  local last, chosen = classes[#classes], nil
  for _, way in ipairs(best) do
    local units = (total_pods - way.pods) / last.step
    if units == math.floor(units) and units >= last.least and units <= last.most then
      local cost = way.cost + math.abs(units * unit - last.ideal) * last.step
      local all = joined(way.units, {units})
      if not chosen or cost < chosen.cost or (cost == chosen.cost and is_before(all, chosen.units)) then
        chosen = {cost = cost, units = all}
      end
    end
  end
  return chosen and chosen.units
end

-- The units of several targets; `share` divides the units of targets with the same step.
local function divided(total_pods, targets, share)
  local ideals, unit = ideal_shares(total_pods, targets)
  local found = rounded_shares(total_pods, targets, ideals, unit)
  if found then return found end
  local classes, of_step = {}, {}
  for i, target in ipairs(targets) do
    local class = of_step[target.step]
    if not class then
      class = {step = target.step, ideal = 0, least = 0, most = 0, members = {}}
      of_step[target.step] = class
      classes[#classes + 1] = class
    end
    class.ideal = class.ideal + ideals[i]
    class.least, class.most = class.least + target.least, class.most + target.most
    class.members[#class.members + 1] = i
  end
  local units_of = closest_units(total_pods, classes, unit)
  if not units_of then return nil end
  local units = {}
  for number, class in ipairs(classes) do
    local alike = {}
    for i, index in ipairs(class.members) do
      local target = targets[index]
      alike[i] = {step = 1, units = target.units, least = target.least, most = target.most}
    end
    local own = share(units_of[number], alike)
    for i, index in ipairs(class.members) do units[index] = own[i] end
  end
  return units
end

-- The units of each target so that their pods add up to the total; nil if that is not possible.
local function shares_of(total_pods, targets)
  local least, most = 0, 0
  for _, target in ipairs(targets) do
    least, most = least + target.least * target.step, most + target.most * target.step
  end
  if total_pods < least or total_pods > most then return nil end
  if #targets == 1 then
    return total_pods % targets[1].step == 0 and {total_pods / targets[1].step} or nil
  end
  if with.many then return divided(total_pods, targets, shares_of) end
end

local function write_target(target, obj, units)
  local scale = target.first
  local number = units * scale.place.factor
  if scale.replicas_place then
    write_place(scale.replicas_place, obj, number)
  else
    if with.bounds and scale.minimum_place then write_place(scale.minimum_place, obj, number) end
    if with.bounds and scale.maximum_place and scale.maximum and scale.maximum < number then
      write_place(scale.maximum_place, obj, number)
    end
  end
  if with.has_default and scale.component.has_default then write_default(scale.place, obj, units) end
end

local function known_place(origin)
  if is_place(origin) then return origin end
  return nil
end

-- Fails for a share of an older number of units, or of pods.
local function check_share(replicas, whole)
  if replicas > whole then error("cannot set " .. replicas .. " replicas: the object has " .. whole, 0) end
end

-- The object with a total number of pods: the elastic pod sets share what the other ones leave.
local function revised(pod_sets, elastic, obj, replicas)
  if replicas < 0 then error("the replicas must be a number from 0 up", 0) end
  local scales = with.lone and pod_sets(obj) or scales_of(pod_sets, obj)
  mark_elastic(scales, elastic)
  local targets, rest = targets_of(scales), replicas
  if with.shares then check_share(replicas, sum_of_pods(scales)) end
  if sum_of_pods(scales) == replicas then
    if with.has_default then
      for _, target in ipairs(targets) do
        local first = target.first
        if first.component.has_default and write_default(first.place, obj, target.units) then refuse_emptying(replicas) end
      end
    end
    return obj
  end
  for _, target in ipairs(targets) do
    for _, scale in ipairs(target.scales) do scale.moves = true end
  end
  for _, scale in ipairs(scales) do
    if not scale.moves then rest = rest - scale.pods end
  end
  refuse_emptying(replicas)
  local units = #targets > 0 and rest >= 0 and shares_of(rest, targets)
  if not units then error("cannot set " .. replicas .. " replicas: the pod sets cannot change to that", 0) end
  for i, target in ipairs(targets) do write_target(target, obj, units[i]) end
  scales = with.lone and pod_sets(obj) or scales_of(pod_sets, obj)
  if sum_of_pods(scales) ~= replicas then
    error("cannot set " .. replicas .. " replicas: the object would have another number", 0)
  end
  return obj
end

-- The object with a total number of pods: `scaled` is the pod set whose count may change, with the path of the count
-- and the default of an unset field; `others` the number of the other pods.
local function with_pods(obj, replicas, scaled, others)
  if replicas < 0 then error("the replicas must be a number from 0 up", 0) end
  local wanted, pods, path = replicas, 0, nil
  if with.others then wanted = replicas - others end
  if scaled then pods, path = scaled.pods, scaled.path end
  local known = path and value_at(obj, path)
  if with.shares then check_share(replicas, pods) end
  if pods == wanted then
    local is_unset = path and scaled.default and known == nil and value_at(obj, path, #path - 1) ~= nil
    if is_unset then
      refuse_emptying(replicas)
      write_at(obj, path, scaled.default)
    end
    return obj
  end
  refuse_emptying(replicas)
  local is_possible = path and wanted >= 0
  if with.limits then
    is_possible = is_possible and wanted >= (scaled.minimum or 0) and wanted <= (scaled.maximum or wanted)
  end
  if not is_possible then error("cannot set " .. replicas .. " replicas: the pod sets cannot change to that", 0) end
  write_at(obj, path, type(known) == "string" and number_text(wanted) or wanted)
  return obj
end

-- The pod sets of an object with the names of their components.
local function named_scales(pod_sets, obj)
  local sets = {}
  local scales = with.lone and pod_sets(obj) or scales_of(pod_sets, obj)
  for i, scale in ipairs(scales) do sets[i] = {component = scale.component.name, instance = scale.instance} end
  local names = names_of(sets)
  for i, scale in ipairs(scales) do scale.name = names[i] end
  return scales
end

-- Writes the number that is asked for one of the pod sets of a place.
local function write_asked(target, obj)
  for _, scale in ipairs(target.scales) do
    local factor = scale.place.factor
    if scale.asked ~= scale.pods and factor > 0 then
      local units = scale.asked / factor
      if units % 1 ~= 0 or units < target.least or units > target.most then
        error("cannot set " .. scale.name .. " to " .. scale.asked, 0)
      end
      write_target(target, obj, units)
      return
    end
  end
  if with.has_default and target.first.component.has_default then
    write_default(target.first.place, obj, target.units)
  end
end

-- The object with the given components, which are all of its components, each once.
local function with_components(pod_sets, obj, components)
  local scales, asked, is_changed = named_scales(pod_sets, obj), {}, false
  for _, component in ipairs(components) do
    if asked[component.name] then error("a component is named twice: " .. component.name, 0) end
    asked[component.name] = component.replicas
  end
  for _, scale in ipairs(scales) do
    scale.asked, scale.is_elastic = asked[scale.name], true
    if not scale.asked then error("a component is missing: " .. scale.name, 0) end
    is_changed = is_changed or scale.asked ~= scale.pods
  end
  if #components ~= #scales then error("there are other components", 0) end
  if not is_changed then return obj end
  if with.indivisible then
    error("its definition does not let the workload be divided (karta-interpreter.io/elastic: none)", 0)
  end
  for _, target in ipairs(targets_of(scales)) do write_asked(target, obj) end
  local found = named_scales(pod_sets, obj)
  for i, scale in ipairs(found) do
    if asked[scale.name] ~= scale.pods then error(scale.name .. " would become " .. scale.pods, 0) end
  end
  if #found ~= #scales then error("the object would have other components", 0) end
  return obj
end

-- The counts that numbers are divided along with, rule by rule.
local function counts_before(rules, obj)
  local found = {}
  for i, rule in ipairs(rules) do found[i] = limited(rule.of(obj)) end
  return found
end

local function is_above_zero(value)
  return type(value) == "number" and value > 0 and value % 1 == 0
end

-- The object with the numbers that are divided along with its counts: rounded up, and of what a roll-out holds back less
-- than all of several pods.
local function with_shares(rules, before, obj)
  for i, rule in ipairs(rules) do
    local values, origins = rule.value(obj)
    local after = limited(rule.of(obj))
    if #values ~= #after or #before[i] ~= #after then error("each number needs its own count", 0) end
    for k, value in ipairs(values) do
      local whole, part, place = before[i][k], after[k], origins.parts[k]
      local is_counted = is_above_zero(whole) and (part == 0 or is_above_zero(part)) and whole ~= part
      if is_place(place) and is_counted and is_above_zero(value) then
        local share = math.ceil(exact(value * part) / whole)
        if rule.is_held and share >= part and part > 1 and value < whole then share = part - 1 end
        write_at(obj, place.path, share)
      end
    end
  end
  return obj
end
