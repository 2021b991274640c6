local pod_fields = {"serviceAccountName", "imagePullSecrets", "volumes"}

local container_lists = {"initContainers", "containers", "ephemeralContainers"}

-- What kube.getPodDependencies reads of a pod, without the volumes of some names.
local function naming_parts(spec, without)
  local found = {}
  for _, field in ipairs(pod_fields) do found[field] = spec[field] end
  for _, field in ipairs(container_lists) do
    local containers = {}
    for i, container in ipairs(list_or_none(spec[field])) do
      containers[i] = {name = "c" .. i, env = get(container, "env"), envFrom = container.envFrom}
    end
    found[field] = containers
  end
  if spec.volumes then
    found.volumes = {}
    for _, volume in ipairs(list_of(spec.volumes)) do
      if not without[get(volume, "name")] then found.volumes[#found.volumes + 1] = volume end
    end
  end
  return found
end

local function add_reference(found, api_version, kind, namespace, name)
  if namespace == "" then namespace = nil end
  found[#found + 1] = {apiVersion = api_version, kind = kind, namespace = namespace, name = name}
end

-- The objects that a pod template names, and the claims of devices.
local function add_pod_dependencies(found, template, namespace, without)
  local spec = get(template, "spec") or {}
  for _, reference in ipairs(kube.getPodDependencies({spec = naming_parts(spec, without)}, namespace) or {}) do
    add_reference(found, reference.apiVersion, reference.kind, reference.namespace, reference.name)
  end
  for _, claim in ipairs(list_or_none(spec.resourceClaims)) do
    if (get(claim, "resourceClaimName") or "") ~= "" then
      add_reference(found, "resource.k8s.io/v1", "ResourceClaim", namespace, claim.resourceClaimName)
    end
    if (claim.resourceClaimTemplateName or "") ~= "" then
      add_reference(found, "resource.k8s.io/v1", "ResourceClaimTemplate", namespace, claim.resourceClaimTemplateName)
    end
  end
end

-- The texts among some values; null and empty text are none.
local function texts(values)
  local found = {}
  for _, value in ipairs(limited(values)) do
    value = present(value)
    if value ~= nil and type(value) ~= "string" then error("the annotation dependencies must give names", 0) end
    if value and value ~= "" then found[#found + 1] = value end
  end
  return found
end

-- The pod templates of all instances; neither their ids nor their counts have to be right.
local function pod_templates(components, obj)
  local all = {}
  for _, component in ipairs(components) do
    local size = component.ids and #limited(component.ids(obj)) or 1
    local found = templates(component, obj, size)
    for i = 1, size do
      if found[i] then all[#all + 1] = found[i] end -- without added
      if found[i] then all[#all + 1] = with_added(component, obj, found[i]) end -- with added
    end
  end
  return all
end
