local function add_reference(found, api_version, kind, namespace, name, selector)
  if namespace == "" then namespace = nil end
  found[#found + 1] = {apiVersion = api_version, kind = kind, namespace = namespace, name = name, labelSelector = selector}
end

local function has_null(value)
  if value == null then return true end
  for _, part in pairs(type(value) == "table" and value or {}) do
    if has_null(part) then return true end
  end
  return false
end

-- Appends the objects that label selectors match, each selector once. One with null in it matches nothing.
local function add_selected(found, api_version, kind, namespace, selectors)
  local known = {}
  for _, selector in ipairs(limited_to(10000, selectors)) do
    local is_new = not has_null(selector)
    if is_new and type(selector) ~= "table" then error("a label selector must be an object", 0) end
    for field in pairs(is_new and selector or {}) do
      if field ~= "matchLabels" and field ~= "matchExpressions" then
        error("a label selector has matchLabels and matchExpressions only", 0)
      end
    end
    for _, other in ipairs(is_new and known or {}) do
      is_new = is_new and not equal(other, selector)
    end
    if is_new then
      known[#known + 1] = selector
      -- An empty selector matches everything, and Karmada reads an empty table as none.
      local written = is_empty(selector) and {matchLabels = {}} or selector
      add_reference(found, api_version, kind, namespace, nil, written)
    end
  end
end

-- Appends the objects that a pod refers to, device claims and its group too; volumes named in `without` are left out.
local function add_pod_dependencies(found, spec, namespace, without)
  local account = get(spec, "serviceAccountName")
  if account == nil or account == "" then account = get(spec, "serviceAccount") end
  local naming = {
    serviceAccountName = account,
    imagePullSecrets = spec.imagePullSecrets,
    volumes = spec.volumes,
    resourceClaims = spec.resourceClaims,
  }
  for _, field in ipairs({"initContainers", "containers", "ephemeralContainers"}) do
    naming[field] = {}
    for i, container in pairs(spec[field] == nil and {} or spec[field]) do
      naming[field][i] = {name = "c", env = get(container, "env"), envFrom = container.envFrom}
    end
  end
  if with.made_claims and without then
    naming.volumes = {}
    for i, volume in pairs(spec.volumes or {}) do
      if not without[get(volume, "name")] then naming.volumes[type(i) == "number" and #naming.volumes + 1 or i] = volume end
    end
  end
  for _, reference in ipairs(kube.getPodDependencies({spec = naming}, namespace) or {}) do
    found[#found + 1] = reference
  end
  for _, claim in ipairs(spec.resourceClaims or {}) do
    local names = {ResourceClaim = claim.resourceClaimName, ResourceClaimTemplate = claim.resourceClaimTemplateName}
    local place = namespace ~= "" and namespace or nil
    for kind, name in pairs(names) do
      if name ~= "" then
        found[#found + 1] = {apiVersion = "resource.k8s.io/v1", kind = kind, namespace = place, name = name}
      end
    end
  end
  local group = get(spec.schedulingGroup, "podGroupName")
  if group ~= nil and group ~= "" then
    local place = namespace ~= "" and namespace or nil
    found[#found + 1] = {apiVersion = "scheduling.k8s.io/v1beta1", kind = "PodGroup", namespace = place, name = group}
  end
end

-- The values that are not null or empty; all must be text.
local function texts(values)
  local found = {}
  for _, value in ipairs(limited_to(10000, values)) do
    value = non_null(value)
    if value ~= nil and type(value) ~= "string" then error("names of dependencies must be text", 0) end
    if value and value ~= "" then found[#found + 1] = value end
  end
  return found
end

-- Appends the objects with these names, each in its place if there are as many of both, or else all in the first.
local function add_named(found, api_version, kind, names, places, namespace)
  local first, is_each = texts(places)[1] or namespace, #names == #places
  texts(names) -- they have to be text
  for i, name in ipairs(names) do
    local place = first
    if is_each then place = non_null(places[i]) or "" end
    if place == "" then place = namespace end
    if non_null(name) and name ~= "" then add_reference(found, api_version, kind, place, name) end
  end
end

-- Appends the objects that the pods of all instances refer to.
local function add_dependencies(found, component, obj, namespace, without)
  local size = component.ids and #limited(component.ids(obj)) or 1
  local added = with.added and (component.added and added_lists(component, obj, size) or {})
  for i, spec in pairs(pod_specs(component, obj, size)) do
    if with.added then spec = with_added(component.name, spec, added[i]) end
    add_pod_dependencies(found, spec, namespace, without)
  end
end

-- The dependencies that Karmada can follow: those in the namespace of the object, by names that an object can have. Its
-- client refuses others, such as a/b. What is in another namespace its owner has to propagate.
local function followed(found, namespace)
  local kept = {}
  for _, reference in ipairs(found) do
    local possible = (reference.namespace or "") == namespace
    for _, name in pairs({reference.name, reference.namespace}) do
      possible = possible and #name <= 253 and string.find(name, "^%w[%w_.:-]*$") ~= nil
    end
    if possible then kept[#kept + 1] = reference end
  end
  return kept
end

-- Does what names nothing more where it fails. At a bound it fails, because Karmada removes what an answer leaves out.
local function attempt(part)
  local is_right, reason = pcall(part)
  if not is_right and string.find(tostring(reason), "more than %d+ results") then error(reason, 0) end
end

-- Appends the names that a name with parameters comes to, {{...}} or $(...): one for each value of a list.
local function fill(names, name, values, rounds)
  local first, last = string.find(name, "{{.-}}")
  local start, stop = string.find(name, "%$%(.-%)")
  if start and not (first and first < start) then first, last = start, stop end
  local token, texts = first and string.sub(name, first, last) or "", {}
  local value, top = #name < 254 and first and values or nil, values
  for step in string.gmatch(token, "[^%s.%[%]\"'=(){}$]+") do
    local index = not string.find(step, "%D") and tonumber(step)
    if not index then value = peek(value, step) else value = is_list(value) and value[index + 1] or nil end
    if top == values then top = value end
  end
  if value == nil and top ~= values then value = top end
  for at, text in ipairs(is_list(value) and value or {value}) do
    local is_own = type(text) ~= "string" or string.find(text, token, 1, true)
    if at <= 17 and not is_own then texts[#texts + 1] = string.sub(text, 1, 254) end
  end
  if #texts > 0 and rounds == 0 then error("more than 4 results of parameters in parameters", 0) end
  for _, text in ipairs(texts) do
    fill(names, join(split(name, token), text), values, rounds - 1)
  end
  if #texts == 0 then names[#names + 1] = name end
  if #names > 16 then error("more than 16 results of a name with parameters", 0) end
end

-- The dependencies with the values of parameters in their names.
local function with_parameters(found, objects)
  for _, values in ipairs(limited_to(10000, objects)) do
    local filled = {}
    for _, one in ipairs(non_null(values) and found or {}) do
      local names = {}
      if one.name then fill(names, one.name, values, 4) else filled[#filled + 1] = one end
      for _, name in ipairs(names) do
        local reference = {apiVersion = one.apiVersion, kind = one.kind, namespace = one.namespace, name = name}
        if name ~= "" then filled[#filled + 1] = reference end
      end
    end
    if non_null(values) then found = filled end
  end
  return found
end
