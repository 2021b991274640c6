-- The number of days from the year 0 to a date; month 13 is January of the next year.
local function days_until(year, month, day)
  if month < 3 then year, month = year - 1, month + 12 end
  local leap_days = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  return year * 365 + leap_days + math.floor((month * 153 + 3) / 5) + day
end

-- The seconds of an RFC 3339 time; nil for any other value. Digits are compared as text.
local function seconds_of(value)
  if type(value) ~= "string" or #value < 20 then return nil end
  local year, month, day, hour, minute, second, zone =
    string.match(value, "^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d%.?%d*)(.*)$")
  local sign, hours, minutes = string.match(zone or "", "^([+-])(%d%d):?(%d%d)$")
  if zone == "Z" or zone == "" then sign, hours, minutes = "+", "00", "00" end
  if not sign or hours > "23" or minutes > "59" or year < "0001" or month < "01" or month > "12" or day < "01"
    or hour > "23" or minute > "59" or second >= "60" then return nil end
  local days, offset = days_until(year, month + 0, day), (hours * 60 + minutes) * 60
  if days >= days_until(year, month + 1, 1) then return nil end
  return ((days * 24 + hour) * 60 + minute) * 60 + string.sub(second, 1, 9) - (sign == "-" and -offset or offset)
end

-- The earliest or the latest of some times, as it is written.
local function extreme_time(values, is_earliest)
  local found, known = nil, nil
  for _, value in ipairs(values) do
    local seconds = seconds_of(value)
    if not seconds then error("a value is not a time such as 2026-01-31T12:00:00Z", 0) end
    if is_earliest then seconds = -seconds end
    if not known or seconds > known then found, known = value, seconds end
  end
  return found
end

-- Whether a time with this name is the end of a workload.
local function is_end(name)
  name = string.lower(name)
  return string.find(name, "^complet") or string.find(name, "^finish") or string.find(name, "^end")
    or string.find(name, "^terminat")
end

-- The order of statuses, worst first.
local ranks = {
  Failed = "0", Degraded = "1", Undefined = "2", Suspending = "3", Suspended = "4", Resuming = "5", Initializing = "6",
  Running = "7", Completed = "8",
}

-- Removes the field at a path; `[]` is each element of a list.
local function without_path(value, path, first)
  local key = path[first]
  if key == nil or type(value) ~= "table" then return end
  if key == "[]" then
    for _, element in ipairs(value) do without_path(element, path, first + 1) end
  elseif path[first + 1] == nil then
    value[key] = nil
  else
    without_path(value[key], path, first + 1)
  end
end

-- The values sorted by their field `order`, else by the severity of their clusters; the sort is stable.
local function sorted(values)
  local found = {}
  for i, value in ipairs(values) do
    local order, place = value.order or value.report.severity, i
    while place > 1 and order < (found[place - 1].order or found[place - 1].report.severity) do
      found[place] = found[place - 1]
      place = place - 1
    end
    found[place] = value
  end
  return found
end

-- The report of each cluster, sorted by cluster name. A cluster without a status is left out, unless all others have
-- completed: then it keeps the workload from being complete.
local function reports_of(kind, template, items)
  local all, reporting, are_complete = {}, {}, true
  local metadata, before = is_object(template.metadata) and template.metadata or {}, template.status
  local generation = metadata.generation
  template.metadata = metadata
  for i, reported in ipairs(items) do
    local status, statuses, severity = reported.status, {Undefined = true}, {}
    if status == nil then status = {} end
    if not is_object(status) then error("the status of a cluster must be an object", 0) end
    if next(status) ~= nil then
      -- The definition's statuses of the member: the template with the member's status and generation.
      template.status, metadata.generation = status, status.generation
      status.generation, status.resourceTemplateGeneration = nil, nil
      statuses = kind.statuses_of(template)
      for _, path in ipairs(kind.removed) do without_path(status, path, 1) end -- with removed
    end
    for name in pairs(statuses) do severity[#severity + 1] = ranks[name] end
    table.sort(severity)
    local cluster, fails = reported.clusterName or "", statuses.Failed or statuses.Degraded
    all[i] = {
      cluster = cluster,
      order = cluster,
      status = status,
      statuses = statuses,
      severity = table.concat(severity),
      fails = fails,
    }
  end
  template.status, metadata.generation = before, generation
  all = sorted(all)
  for _, report in ipairs(all) do
    if next(report.status) ~= nil then
      reporting[#reporting + 1] = report
      are_complete = are_complete and report.statuses.Completed
    end
  end
  return #reporting > 0 and are_complete and all or reporting
end

-- The sum of numbers; the largest int32 means "unlimited" and remains.
local function sum_of(values)
  local sum = 0
  for _, value in ipairs(values) do
    if value == 2147483647 then return value end
    sum = sum + value
  end
  if math.abs(sum) >= 2 ^ 53 then error("the sum is too large for a number", 0) end
  return sum
end

local function are_all(values, kind)
  for _, value in ipairs(values) do
    if type(value) ~= kind then return false end
  end
  return true
end

local duration_units = {ns = 1e-9, us = 1e-6, ms = 1e-3, s = 1, m = 60, h = 3600}

-- The seconds of a duration of Go such as 1h2m0.5s; nil for anything else.
local function duration_of(value)
  local seconds, place = 0, string.sub(value, 1, 1) == "-" and 2 or 1
  local sign = place == 2 and -1 or 1
  if string.sub(value, -1) ~= "s" or place > #value then return nil end
  while place <= #value do
    local from, to, amount, unit = string.find(value, "^(%d+%.?%d*)([a-z]+)", place)
    if not from or not duration_units[unit] then return nil end
    seconds, place = seconds + tonumber(amount) * duration_units[unit], to + 1
  end
  return sign * seconds
end

-- A number for comparing numbers, quantities and durations.
local function amount_of(value)
  if type(value) == "number" then return value end
  if type(value) ~= "string" then error("a value is neither a number nor a quantity", 0) end
  local seconds = duration_of(value)
  if seconds then return seconds end
  if string.sub(value, 1, 1) == "-" then return -kube.getResourceQuantity(string.sub(value, 2)) end
  return kube.getResourceQuantity(value)
end

local function of_type(value, kind)
  local is_right = kind == "list" and is_list(value) or kind == "object" and is_object(value) or type(value) == kind
  if not is_right then error("a value must be a " .. kind, 0) end
  return value
end

local function without_empty_text(values)
  local found = {}
  for _, value in ipairs(values) do
    if value ~= "" then found[#found + 1] = value end
  end
  return found
end

local function added(values)
  if are_all(values, "number") then return sum_of(values) end
  for i, value in ipairs(values) do
    if type(value) == "number" then values[i] = number_text(value) end
  end
  return kube.resourceAdd(unpack(values))
end

local function largest(values)
  local found = values[1]
  for _, value in ipairs(values) do
    if amount_of(value) > amount_of(found) then found = value end
  end
  return found
end

local function smallest(values)
  local found = values[1]
  for _, value in ipairs(values) do
    if amount_of(value) < amount_of(found) then found = value end
  end
  return found
end

local function holds_any(values)
  local found = false
  for _, value in ipairs(values) do
    if of_type(value, "boolean") then found = true end
  end
  return found
end

local function holds_all(values)
  local found = true
  for _, value in ipairs(values) do
    if not of_type(value, "boolean") then found = false end
  end
  return found
end

local function first_value(values)
  return values[1]
end

local function union_of(values)
  local found = {}
  for i = #values, 1, -1 do found = merged_fields(found, of_type(values[i], "object")) end
  return found
end

local function all_elements(values)
  local found = {}
  for _, value in ipairs(values) do found = joined(found, of_type(value, "list")) end
  return found
end

local function latest(values)
  return extreme_time(values, false)
end

local function earliest(values)
  return extreme_time(values, true)
end

local function nothing()
  return nil
end

local computing = {sum = true, max = true, min = true, latest = true, earliest = true}

-- Reduces the values of several clusters to one by a rule of the annotation `aggregate`.
local function reduced(kind, rule, values)
  if rule == "counter" then rule = "sum" end
  if computing[rule] then values = without_empty_text(values) end
  if #values == 0 then return nil end
  return kind.reductions[rule](values)
end

local function is_condition(value)
  return type(value) == "table" and type(value.type) == "string" and type(value.status) == "string"
end

-- The status of a merged condition; nil where the condition is left out.
local function condition_status(kind, name, parts)
  local failing, transitional, statuses, are_equal, any_fails = {}, nil, {}, true, false
  for _, part in ipairs(parts) do
    local status = part.value.status
    if status then statuses[status] = true end
    if part.report.fails and kind.failing[name .. "=" .. (status or "")] then failing[#failing + 1] = part end -- with failing
    if kind.transitional[name .. "=" .. (status or "")] and (not transitional or status < transitional) then transitional = status end -- with transitional
    are_equal = are_equal and status == parts[1].value.status
    any_fails = any_fails or part.report.fails -- with completes
  end
  if failing[1] then return sorted(failing)[1].value.status end -- with failing
  if transitional then return transitional end -- with transitional
  local runs = kind.running[name] and string.find(string.lower(name), "running", 1, true) -- with completes
  if runs and statuses.True and not any_fails then return "True" end -- with completes
  if are_equal then return parts[1] and parts[1].value.status end
  if statuses.True and not kind.mapped[name] then
    for _, word in ipairs({"fail", "error", "degraded", "stalled", "timeout", "exceeded"}) do
      if string.find(string.lower(name), word, 1, true) then return "True" end
    end
  end
  return statuses.False and "False" or statuses.Unknown and "Unknown" or nil
end

-- The worst condition with this status, with the messages of all clusters and the latest times.
local function merged_condition(name, status, parts)
  local alike, messages, times = {}, {}, {}
  for _, part in ipairs(parts) do
    local condition = part.value
    if condition.status == status then
      alike[#alike + 1] = part
      local message = condition.message
      local is_text = type(message) == "string" and message ~= ""
      messages[#messages + 1] = part.report.cluster .. (is_text and ": " .. message or "")
      for key, value in pairs(condition) do
        local seconds = seconds_of(value)
        if seconds and not (times[key] and seconds_of(times[key]) >= seconds) then times[key] = value end
      end
    end
  end
  local found = sorted(alike)[1].value
  found.observedGeneration = nil
  found.type, found.status, found.message = name, status, table.concat(messages, "; ")
  for key, value in pairs(times) do found[key] = value end
  return found
end

-- The merged conditions, one of each type; the last one counts if a type occurs twice in a cluster.
local function merged_conditions(kind, parts)
  local names, conditions, merged = {}, {}, {}
  for i, part in ipairs(parts) do
    for _, condition in ipairs(part.value or {}) do
      local name = condition.type
      if not conditions[name] then
        conditions[name] = {}
        names[#names + 1] = name
      end
      conditions[name][i] = condition
    end
  end
  for _, name in ipairs(names) do
    local own, unfinished = {}, {}
    for i, part in ipairs(parts) do
      local report, condition = part.report, conditions[name][i] or {}
      if kind.completing[name] or kind.by_expression or next(report.status) ~= nil then
        local reason = type(condition.reason) == "string" and condition.reason or "None"
        local order = report.severity .. "\0" .. (condition.status or "None") .. "\0" .. reason
        own[#own + 1] = {report = report, value = condition, order = order}
        if not report.statuses.Completed then unfinished[#unfinished + 1] = own[#own] end -- with running
      end
    end
    if kind.running[name] and unfinished[1] then own = unfinished end -- with running
    local status = condition_status(kind, name, own)
    if status then merged[#merged + 1] = merged_condition(name, status, own) end
  end
  return merged
end

-- The worst of the clusters that roll out a revision, and the clusters with the same revisions.
local function between_revisions(parts)
  local rolling, same = {}, {}
  for _, part in ipairs(parts) do
    local current, update = part.value.currentRevision, part.value.updateRevision
    if type(current) == "string" and type(update) == "string" and current ~= update then
      local revisions = current .. "\0" .. update
      local order = part.report.severity .. "\0" .. revisions
      rolling[#rolling + 1] = {report = part.report, value = part.value, revisions = revisions, order = order}
    end
  end
  local worst = sorted(rolling)[1]
  for _, part in ipairs(rolling) do
    if part.revisions == worst.revisions then same[#same + 1] = part end
  end
  return same
end

-- Merges a status field of several clusters; each part has a cluster's report and its value of the field.
local function merged_value(kind, path, name, parts)
  local with_value, values = {}, {}
  for _, part in ipairs(parts) do
    if part.value ~= nil then
      with_value[#with_value + 1] = part
      values[#values + 1] = part.value
    end
  end
  if #values == 0 then return nil end
  if kind.rules[path] then -- with rules
    local rule = kind.rules[path]
    if rule == "worst" or rule == "union" then
      for i, part in ipairs(sorted(with_value)) do values[i] = part.value end
    end
    return reduced(kind, rule, values)
  end
  local type_of_all, are_lists, are_objects, are_times = type(values[1]), true, true, true
  for _, value in ipairs(values) do
    if type(value) ~= type_of_all then type_of_all = "" end
    if not is_list(value) then are_lists = false end
    if not is_object(value) then are_objects = false end
    if not seconds_of(value) then are_times = false end
  end
  if type_of_all == "boolean" then
    local holds = #values == #parts
    for _, value in ipairs(values) do holds = holds and value end
    return holds
  end
  if type_of_all == "number" then return sum_of(values) end
  local merged = {}
  if are_lists then
    local elements_of_all, are_conditions, have_names = {}, true, true
    for _, part in ipairs(with_value) do
      for _, element in ipairs(part.value) do
        elements_of_all[#elements_of_all + 1] = {report = part.report, value = element}
        if not is_condition(element) then are_conditions = false end
        if not is_object(element) or type(element.name) ~= "string" then have_names = false end
      end
    end
    if elements_of_all[1] and are_conditions then return merged_conditions(kind, parts) end
    local keys, same = {}, {}
    for _, part in ipairs(elements_of_all) do
      local key = have_names and part.value.name or identity_of(part.value)
      if not same[key] then
        same[key] = {}
        keys[#keys + 1] = key
      end
      table.insert(same[key], part)
    end
    for i, key in ipairs(keys) do
      merged[i] = same[key][1].value
      if have_names then merged[i] = merged_value(kind, path .. "[]", "", same[key]) or {} end
    end
    return merged
  end
  if are_objects then
    local keys, is_map, rolling = {}, path ~= "status", between_revisions(with_value)
    for _, part in ipairs(with_value) do
      for key, value in pairs(part.value) do
        keys[key] = key ~= "observedGeneration" or nil
        if not is_object(value) then is_map = false end
      end
    end
    for key in pairs(keys) do
      local is_revision = key == "currentRevision" or key == "updateRevision" or key == "currentReplicas"
      local fields = {}
      for _, part in ipairs(is_revision and rolling[1] and rolling or parts) do
        local value = (part.value or {})[key]
        if value ~= nil or not is_map then fields[#fields + 1] = {report = part.report, value = value} end
      end
      merged[key] = merged_value(kind, path .. "." .. key, key, fields)
    end
    return merged
  end
  if are_times then
    if string.find(string.lower(name), "^start") then return extreme_time(values, true) end
    if is_end(name) and #values < #parts then return nil end
    return extreme_time(values, false)
  end
  for _, part in ipairs(parts) do
    if part.value ~= values[1] then return sorted(parts)[1].value end
  end
  return values[1]
end

-- The status of a template without clusters: counters are 0, and fields of a state are removed.
local function emptied(kind, status)
  local left = {}
  for key, value in pairs(status) do
    local rule = kind.rules["status." .. key] -- with rules
    if type(value) == "boolean" then
      left[key] = false
    elseif type(value) == "number" then
      left[key] = 0
    elseif type(value) == "string" and not kind.state_fields[key] then
      left[key] = value
      if (rule == "sum" or rule == "counter") and value ~= "" and not seconds_of(value) then left[key] = "0" end -- with rules
    end
    if rule == "first" or rule == "worst" or rule == "union" or rule == "drop" then left[key] = nil end -- with rules
    if type(value) == "string" then left[key] = nil end -- with reads_whole_status
  end
  return left
end

-- The template's generation if all members have observed it, as text if a member writes it so.
local function agreed_generation(items, template)
  local current, is_text = integer(is_object(template.metadata) and template.metadata.generation), false
  if not current or #items == 0 then return nil end
  for _, reported in ipairs(items) do
    local status = is_object(reported.status) and reported.status or {}
    local observed, own = status.observedGeneration, integer(status.generation)
    local of_template = integer(status.resourceTemplateGeneration)
    if type(observed) == "string" then
      is_text = true
      if #observed <= 19 and string.find(observed, "^%d+$") then observed = tonumber(observed, 10) end
    end
    if not (integer(observed) and own and of_template and observed >= own and of_template >= current) then return nil end
  end
  return is_text and string.format("%d", current) or current
end

-- Keeps counters that would fall, and fields that no cluster decides.
local function with_known(kind, status, known)
  for _, kept in ipairs(kind.kept) do
    local parent = value_at(status, kept.path, #kept.path - 1)
    local value, now = value_at(known, kept.path), value_at(status, kept.path)
    local falls = type(value) == "number" and (now == nil or (type(now) == "number" and now < value))
    if value ~= nil and (parent == nil or is_object(parent)) and (not kept.is_counter or falls) then
      write_at(status, kept.path, value)
    end
  end
end

-- The conditions of a status; none where its `conditions` are not a list of conditions.
local function conditions_in(status)
  local conditions = is_object(status) and status.conditions
  if not is_list(conditions) then return {} end
  for _, condition in ipairs(conditions) do
    if not is_condition(condition) then return {} end
  end
  return conditions
end

-- The conditions with the status True, by their types.
local function true_conditions(status)
  local found = {}
  for _, condition in ipairs(conditions_in(status)) do
    if condition.status == "True" then found[condition.type] = condition end
  end
  return found
end

local function has_ended(kind, status)
  local holds = true_conditions(status)
  for _, outcome in ipairs(kind.outcomes) do
    if holds[outcome.name] then return true end
  end
  return false
end

local function as_condition(condition, name)
  local found = copy(condition)
  found.type = name
  return found
end

-- The conditions of the outcome: its announcement, and its end once all clusters have ended. An announced outcome
-- precedes a failure, and a failure any other outcome.
local function outcome_of(kind, reported, before, is_over)
  local announced, failed, ended = nil, nil, nil
  for _, outcome in ipairs(kind.outcomes) do
    local name, announcement = outcome.name, outcome.announcement
    if before[announcement] then announced = announced or outcome end
    if outcome.is_failure and (reported[name] or reported[announcement]) then failed = failed or outcome end
    if reported[name] then ended = ended or outcome end
  end
  local outcome = announced or failed or ended
  if not outcome then return {} end
  local own = reported[outcome.name]
  local found = reported[outcome.announcement] or own or before[outcome.announcement]
  local conditions = {as_condition(found, outcome.announcement)}
  if is_over and (own or outcome.is_failure) then conditions[2] = as_condition(own or found, outcome.name) end
  return conditions
end

-- The merged status with the conditions of its outcome, and without an end time before the end.
local function with_outcome(kind, merged, before, is_over)
  local reported, is_of_outcome, conditions = true_conditions(merged), {}, {}
  local outcome, has_come = outcome_of(kind, reported, true_conditions(before), is_over), false
  for _, each_outcome in ipairs(kind.outcomes) do
    is_of_outcome[each_outcome.name], is_of_outcome[each_outcome.announcement] = true, true
    for _, condition in ipairs(outcome) do
      has_come = has_come or (condition.type == each_outcome.name and reported[each_outcome.name] ~= nil)
    end
  end
  local is_changed = outcome[1] ~= nil
  for _, condition in ipairs(conditions_in(merged)) do
    is_changed = true
    if not is_of_outcome[condition.type] then conditions[#conditions + 1] = condition end
  end
  for _, condition in ipairs(outcome) do conditions[#conditions + 1] = condition end
  if is_changed then merged.conditions = conditions end
  for key, value in pairs(has_come and {} or copy(merged)) do
    if is_end(key) and seconds_of(value) then merged[key] = nil end
  end
  return merged
end

-- Whether the template has all the values that suspend it.
local function has_values(template, actions)
  local has_place = false
  for _, action in ipairs(actions) do
    local values, origins = action.find(template)
    for i = 1, #values do
      has_place = true
      local path = plain_path(origins.parts[i], true)
      if not equal(value_at(template, path), action.value) then return false end
    end
  end
  return has_place
end

-- Keeps start times, and no end before them: API servers reject a running Job whose start time changes.
local function with_starts(kind, status, known, template)
  local starts = {}
  for key, value in pairs(known) do
    local is_start = string.find(string.lower(key), "^start") and seconds_of(value)
    if is_start and status[key] ~= value then starts[#starts + 1] = key end
  end
  if #starts == 0 or kind.is_suspended(template) then return end
  for key, value in pairs(status) do
    if is_end(key) and seconds_of(value) then
      for _, start in ipairs(starts) do value = extreme_time({value, known[start]}, false) end
      status[key] = value
    end
  end
  for _, start in ipairs(starts) do status[start] = known[start] end
end

-- The template with the status of all clusters.
local function aggregated(kind, template, items)
  local before, merged = template.status, nil
  if has_ended(kind, before) then return template end -- with outcomes
  local is_over = #items > 0 -- with outcomes
  for _, reported in ipairs(items) do is_over = is_over and has_ended(kind, reported.status) end -- with outcomes
  local generation = agreed_generation(items, template)
  local reports = reports_of(kind, template, items)
  if #items == 0 then
    if not is_object(before) then return template end
    local statuses = kind.statuses_of(template) -- with ends
    if statuses.Completed or statuses.Failed then return template end -- with ends
    merged = emptied(kind, before)
  elseif #reports < 2 then
    if not reports[1] then return template end
    merged = reports[1].status
  else
    local parts_of_status = {}
    for i, report in ipairs(reports) do parts_of_status[i] = {report = report, value = report.status} end
    merged = merged_value(kind, "status", "status", parts_of_status) or {}
  end
  if kind.outcomes then merged = with_outcome(kind, merged, before, is_over) end -- with outcomes
  local known = is_object(before) and before or {}
  merged.observedGeneration = generation or known.observedGeneration
  if kind.outcomes then with_starts(kind, merged, known, template) end -- with outcomes
  with_known(kind, merged, known) -- with kept
  template.status = merged
  return template
end
