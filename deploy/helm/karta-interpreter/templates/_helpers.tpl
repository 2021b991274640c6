{{- define "karta-interpreter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The release is usually called as the chart, or says what it is for: then its name is enough. A Service is called by
     it, whose name has no dots; that of a release may have some. */}}
{{- define "karta-interpreter.fullname" -}}
{{- $name := include "karta-interpreter.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | replace "." "-" | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* A name cut so that a suffix of eleven characters fits: labels, and names of Jobs, have 63. */}}
{{- define "karta-interpreter.short" -}}
{{- trunc 52 . | trimSuffix "-" -}}
{{- end -}}

{{- define "karta-interpreter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "karta-interpreter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Arguments: root, and the name of a hook or of the workload types API. Not the selector's: the Service must send no
     calls to their pods. */}}
{{- define "karta-interpreter.hookLabels" -}}
app.kubernetes.io/name: {{ include "karta-interpreter.name" (first .) | include "karta-interpreter.short" }}-{{ last . }}
app.kubernetes.io/instance: {{ (first .).Release.Name | quote }}
{{- end -}}

{{/* The same with those of the user. A policy may want them of each pod, also of one that Helm makes. */}}
{{- define "karta-interpreter.allHookLabels" -}}
{{- merge (include "karta-interpreter.hookLabels" . | fromYaml) ((first .).Values.commonLabels | default dict) | toYaml -}}
{{- end -}}

{{/* Where pods run: those of the server, of the workload types API, of hooks */}}
{{- define "karta-interpreter.placement" -}}
{{- $placement := pick .Values "nodeSelector" "tolerations" "affinity" -}}
{{- range $field, $value := $placement -}}
{{- if not $value -}}{{- $_ := unset $placement $field -}}{{- end -}}
{{- end -}}
{{- with $placement }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/*
Argument: the value that names a kubeconfig. Not a flag, so that `kubectl exec … karta-interpreter doctor` looks at the same
control plane.
*/}}
{{- define "karta-interpreter.kubeconfigEnv" -}}
- {name: KARTA_INTERPRETER_KUBECONFIG, value: /etc/karta-interpreter/karmada/kubeconfig}
{{- with .context }}
- {name: KARTA_INTERPRETER_CONTEXT, value: {{ . | quote }}}
{{- end }}
{{- end -}}

{{/* The API server refuses steps of a RollingUpdate with Recreate. */}}
{{- define "karta-interpreter.strategy" -}}
{{- with .Values.strategy -}}
{{- toYaml (ternary (omit . "rollingUpdate") . (eq .type "Recreate")) -}}
{{- end -}}
{{- end -}}

{{/* Argument: an option. The name of its setting, as in the environment variable; nothing for what is not an option */}}
{{- define "karta-interpreter.settingOf" -}}
{{- regexFind "^--[a-z-]+(=|$)" . | trimSuffix "=" | trimPrefix "--" | trimPrefix "no-" | replace "-" "_" | upper -}}
{{- end -}}

{{/* The options of `serve`, before those of server.extraArgs */}}
{{- define "karta-interpreter.serverArgs" -}}
- {{ printf "--host=%s" .Values.server.host | quote }}
- --port={{ .Values.server.port }}
{{- if include "karta-interpreter.isSelfSigned" . }}
- --certificate-secret={{ .Release.Namespace }}/{{ include "karta-interpreter.tlsSecret" . }}
- --certificate-days={{ .Values.certificate.selfSigned.days }}
- --authority-days={{ .Values.certificate.selfSigned.authorityDays }}
{{- range include "karta-interpreter.certificateNames" . | fromJsonArray }}
- --certificate-name={{ . }}
{{- end }}
{{- else }}
- --certificate-file=/etc/karta-interpreter/tls/tls.crt
- --key-file=/etc/karta-interpreter/tls/tls.key
{{- with .Values.certificate.caKey }}
- --ca-file=/etc/karta-interpreter/tls/{{ . }}
{{- end }}
{{- end }}
- --log-level={{ .Values.server.logLevel }}
- --connection-age={{ .Values.server.connectionAge }}
- --grace-period={{ .Values.server.gracePeriod }}
- --health-port={{ .Values.server.healthPort }}
{{- with include "karta-interpreter.definitionArgs" . | trim }}
{{- . | nindent 0 }}
{{- end }}
{{- if .Values.server.resourceQuotaEstimate }}
- --resource-quota-estimate
{{- end }}
{{- if ne .Values.server.podRequests "scheduler" }}
- --pod-requests={{ .Values.server.podRequests }}
{{- end }}
{{- range .Values.server.deviceClasses }}
- --device-class={{ . }}
{{- end }}
- --{{ if not .Values.karmada.cluster }}no-{{ end }}cluster
- --{{ if not .Values.registration.enabled }}no-{{ end }}register
{{- if .Values.registration.enabled }}
- --registration-name={{ .Values.registration.name }}
{{- if .Values.registration.publicUrl }}
- --public-url={{ .Values.registration.publicUrl }}
{{- else }}
- --service={{ include "karta-interpreter.serviceReference" . }}
{{- end }}
{{- if .Values.registration.multiplePodTemplatesScheduling }}
- --multiple-pod-templates-scheduling
{{- end }}
{{- range .Values.registration.operations }}
- {{ printf "--operations=%s" . | quote }}
{{- end }}
{{- end }}
# Answers end before it, whoever registers the server.
- --webhook-timeout={{ .Values.registration.timeoutSeconds }}
{{- end -}}

{{/* Argument: the value that names a kubeconfig */}}
{{- define "karta-interpreter.kubeconfigVolume" -}}
- name: karmada
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    items:
      - {key: {{ .key }}, path: kubeconfig}
{{- end -}}

{{/* What the server and the workload types API have in common: definitions */}}
{{- define "karta-interpreter.definitionArgs" -}}
{{- if .Values.kartas.inline }}
- --kartas=/etc/karta-interpreter/kartas-inline
{{- end }}
{{- range .Values.kartas.configMaps }}
- --kartas=/etc/karta-interpreter/kartas/{{ . }}
{{- end }}
{{- if .Values.overrides.inline }}
- --overrides=/etc/karta-interpreter/overrides-inline
{{- end }}
{{- range .Values.overrides.configMaps }}
- --overrides=/etc/karta-interpreter/overrides/{{ . }}
{{- end }}
{{- if not .Values.server.catalogue }}
- --no-catalogue
{{- end }}
{{- range .Values.server.kinds }}
- {{ printf "--kinds=%s" . | quote }}
{{- end }}
{{- range .Values.server.without }}
- {{ printf "--without=%s" . | quote }}
{{- end }}
{{- end -}}

{{- define "karta-interpreter.definitionMounts" -}}
{{- if .Values.kartas.inline }}
- {name: kartas-inline, mountPath: /etc/karta-interpreter/kartas-inline, readOnly: true}
{{- end }}
{{- range $index, $name := .Values.kartas.configMaps }}
- {name: kartas-{{ $index }}, mountPath: /etc/karta-interpreter/kartas/{{ $name }}, readOnly: true}
{{- end }}
{{- if .Values.overrides.inline }}
- {name: overrides-inline, mountPath: /etc/karta-interpreter/overrides-inline, readOnly: true}
{{- end }}
{{- range $index, $name := .Values.overrides.configMaps }}
- {name: overrides-{{ $index }}, mountPath: /etc/karta-interpreter/overrides/{{ $name }}, readOnly: true}
{{- end }}
{{- end -}}

{{- define "karta-interpreter.definitionVolumes" -}}
{{- if .Values.kartas.inline }}
- name: kartas-inline
  configMap: {name: {{ include "karta-interpreter.fullname" $ }}-kartas}
{{- end }}
{{- range $index, $name := .Values.kartas.configMaps }}
- name: kartas-{{ $index }}
  configMap: {name: {{ $name }}}
{{- end }}
{{- if .Values.overrides.inline }}
- name: overrides-inline
  configMap: {name: {{ include "karta-interpreter.fullname" $ }}-overrides}
{{- end }}
{{- range $index, $name := .Values.overrides.configMaps }}
- name: overrides-{{ $index }}
  configMap: {name: {{ $name }}}
{{- end }}
{{- end -}}

{{- define "karta-interpreter.ownLabels" -}}
{{ include "karta-interpreter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: karmada
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The labels of all resources: those of the chart, and in addition those of the user */}}
{{- define "karta-interpreter.labels" -}}
{{- merge (include "karta-interpreter.ownLabels" . | fromYaml) (.Values.commonLabels | default dict) | toYaml -}}
{{- end -}}

{{/* Arguments: root, and the annotations of one resource, which win over those of all. Nothing where there are none. */}}
{{- define "karta-interpreter.annotations" -}}
{{- with merge (dict) (last . | default dict) ((first .).Values.commonAnnotations | default dict) -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* Arguments: root, and labels of the user, which win over the chart's. For resources that no selector takes. */}}
{{- define "karta-interpreter.labelsWith" -}}
{{- merge (dict) (last .) (include "karta-interpreter.labels" (first .) | fromYaml) | toYaml -}}
{{- end -}}

{{/* Arguments: root, and the section of docs/runbook.md. Without a URL the annotation names the file, and is not a link. */}}
{{- define "karta-interpreter.runbook" -}}
{{- $url := (first .).Values.prometheusRule.runbookUrl -}}
{{- if $url }}runbook_url: {{ $url }}{{ else }}runbook: docs/runbook.md{{ end }}#{{ last . }}
{{- end -}}

{{- define "karta-interpreter.metadata" -}}
{{- include "karta-interpreter.metadataWith" (list . dict) -}}
{{- end -}}

{{/* Arguments: root, and annotations of the resource */}}
{{- define "karta-interpreter.metadataWith" -}}
name: {{ include "karta-interpreter.fullname" (first .) | quote }}
namespace: {{ (first .).Release.Namespace | quote }}
labels:
  {{- include "karta-interpreter.labels" (first .) | nindent 2 }}
{{- with include "karta-interpreter.annotations" . }}
{{ . }}
{{- end }}
{{- end -}}

{{- define "karta-interpreter.typesName" -}}
{{ include "karta-interpreter.fullname" . | include "karta-interpreter.short" }}-types-api
{{- end -}}

{{- define "karta-interpreter.typesMetadata" -}}
{{- $own := include "karta-interpreter.hookLabels" (list . "types-api") | fromYaml -}}
name: {{ include "karta-interpreter.typesName" . }}
namespace: {{ .Release.Namespace | quote }}
labels:
  {{- merge $own (include "karta-interpreter.labels" . | fromYaml) | toYaml | nindent 2 }}
{{- with include "karta-interpreter.annotations" (list . dict) }}
{{ . }}
{{- end }}
{{- end -}}

{{- define "karta-interpreter.serviceAccountName" -}}
{{- default (ternary (include "karta-interpreter.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "karta-interpreter.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "karta-interpreter.tlsSecret" -}}
{{- if eq .Values.certificate.mode "existingSecret" -}}
{{- .Values.certificate.existingSecret -}}
{{- else -}}
{{- printf "%s-tls" (include "karta-interpreter.fullname" .) -}}
{{- end -}}
{{- end -}}

{{- define "karta-interpreter.isSelfSigned" -}}
{{- if eq .Values.certificate.mode "selfSigned" -}}yes{{- end -}}
{{- end -}}

{{/* namespace/name:port of the Service on karmada-apiserver */}}
{{- define "karta-interpreter.serviceReference" -}}
{{- $own := printf "%s/%s:%v" .Release.Namespace (include "karta-interpreter.fullname" .) .Values.service.port -}}
{{- default $own .Values.registration.service -}}
{{- end -}}

{{/* The host name by which the Service is called in the host cluster */}}
{{- define "karta-interpreter.serverName" -}}
{{- printf "%s.%s.svc" (include "karta-interpreter.fullname" .) .Release.Namespace -}}
{{- end -}}

{{/* Names of the certificate, as a JSON list. Karmada dials by the Service's name on karmada-apiserver, other clients
     by the one in the host cluster; they differ where the Services do. */}}
{{- define "karta-interpreter.certificateNames" -}}
{{- $own := include "karta-interpreter.serverName" . -}}
{{- $reference := include "karta-interpreter.serviceReference" . | splitList ":" | first | splitList "/" -}}
{{- $known := printf "%s.%s.svc" (last $reference) (first $reference) -}}
{{- $names := list $own $known (printf "%s.cluster.local" $own) -}}
{{- with .Values.registration.publicUrl -}}
{{- $names = append $names (get (urlParse .) "hostname") -}}
{{- end -}}
{{- if .Values.typesApi.enabled -}}
{{- $names = append $names (printf "%s.%s.svc" (include "karta-interpreter.typesName" .) .Release.Namespace) -}}
{{- end -}}
{{- concat $names (.Values.certificate.extraNames | default list) | uniq | toJson -}}
{{- end -}}

{{/* Those that are addresses, as a JSON list */}}
{{- define "karta-interpreter.certificateAddresses" -}}
{{- $addresses := list -}}
{{- range include "karta-interpreter.certificateNames" . | fromJsonArray -}}
{{- if regexMatch "^([0-9.]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$" . -}}
{{- $addresses = append $addresses . -}}
{{- end -}}
{{- end -}}
{{- toJson $addresses -}}
{{- end -}}

{{/* What pods call: DNS, whose pods listen on 5353 on OpenShift, and API servers. Ports are those behind a Service. */}}
{{- define "karta-interpreter.egress" -}}
- ports:
    {{- range list 53 5353 }}
    - {protocol: UDP, port: {{ . }}}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
    {{- range .Values.networkPolicy.apiServerPorts }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end -}}

{{/* Options of `export webhook-configuration`, for the registration that the server would write */}}
{{- define "karta-interpreter.exportArgs" -}}
{{- $registration := .Values.registration -}}
{{- $options := list (printf "--service %s" (include "karta-interpreter.serviceReference" .)) -}}
{{- if $registration.publicUrl -}}
{{- $options = list (printf "--url %s" $registration.publicUrl) -}}
{{- end -}}
{{- if .Values.certificate.caKey -}}
{{- $options = append $options "--ca-file ca.crt" -}}
{{- end -}}
{{- $options = append $options (printf "--name %s --webhook-timeout %v" $registration.name $registration.timeoutSeconds) -}}
{{- if $registration.multiplePodTemplatesScheduling -}}
{{- $options = append $options "--multiple-pod-templates-scheduling" -}}
{{- end -}}
{{- range $registration.operations -}}
{{- $options = append $options (printf "--operations '%s'" .) -}}
{{- end -}}
{{- if not .Values.server.catalogue -}}
{{- $options = append $options "--no-catalogue" -}}
{{- end -}}
{{- range .Values.server.kinds -}}
{{- $options = append $options (printf "--kinds '%s'" .) -}}
{{- end -}}
{{- range .Values.server.without -}}
{{- $options = append $options (printf "--without '%s'" .) -}}
{{- end -}}
{{- join " " $options -}}
{{- end -}}

{{/* The URL that the server registers for registration.publicUrl */}}
{{- define "karta-interpreter.registeredUrl" -}}
{{- $url := .Values.registration.publicUrl -}}
{{- $hasPath := get (urlParse $url) "path" | trimAll "/" -}}
{{- ternary $url (printf "%s/interpret" (regexReplaceAll "/+$" $url "")) (not (empty $hasPath)) -}}
{{- end -}}

{{- define "karta-interpreter.needsKarmada" -}}
{{- if or .Values.karmada.cluster .Values.registration.enabled -}}yes{{- end -}}
{{- end -}}

{{/* Arguments: root, and a path. Whether a volume of the user is mounted there, or above it */}}
{{- define "karta-interpreter.isMounted" -}}
{{- range (first .).Values.extraVolumeMounts -}}
{{- if hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) (printf "%s/" (last $)) -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{/* Arguments: root, the value that names a kubeconfig, and its path. Nothing, or why it does not replace the chart's */}}
{{- define "karta-interpreter.checkKubeconfig" -}}
{{- $path := last . -}}
{{- $isThere := or (hasPrefix "/etc/karta-interpreter/" $path) (include "karta-interpreter.isMounted" (list (first .) $path)) -}}
{{- if and (include "karta-interpreter.needsKarmada" (first .)) (not $isThere) -}}
{{- fail (printf "%s names the kubeconfig %s, where extraVolumeMounts mounts no volume: set karmada.kubeconfig" (index . 1) $path) -}}
{{- end -}}
{{- end -}}

{{/* Arguments: root, and a folder for recordings. Nothing, or why no recording would be written */}}
{{- define "karta-interpreter.checkRecords" -}}
{{- $folder := last . -}}
{{- if not (include "karta-interpreter.isMounted" .) -}}
{{- fail (printf "calls are to be recorded in %s, where extraVolumeMounts mounts no volume: pods cannot write elsewhere" $folder) -}}
{{- end -}}
{{- end -}}

{{/* Arguments: a value with requests and limits, and its name. The API server refuses pods with a limit below the request. */}}
{{- define "karta-interpreter.checkResources" -}}
{{- $units := dict "" 1 "m" 0.001 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $resources := first . -}}
{{- range $name, $request := $resources.requests -}}
{{- if hasKey ($resources.limits | default dict) $name -}}
{{- $amounts := list -}}
{{- range $amount := list $request (get $resources.limits $name) -}}
{{- $number := regexFind "^[0-9.]+" (toString $amount) -}}
{{- $unit := trimPrefix $number (toString $amount) -}}
{{- if and $number (hasKey $units $unit) -}}
{{- $amounts = append $amounts (mulf ($number | float64) (get $units $unit | float64)) -}}
{{- end -}}
{{- end -}}
{{- if and (eq (len $amounts) 2) (lt (last $amounts) (first $amounts)) -}}
{{- fail (printf "%s.limits.%s is %v, below the request of %v" (last $) $name (get $resources.limits $name) $request) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
