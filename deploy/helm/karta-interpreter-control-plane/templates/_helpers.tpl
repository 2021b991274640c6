{{/* Also the name of the Service, which has no dots; that of a release may have some. */}}
{{- define "control-plane.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | replace "." "-" | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "control-plane.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: karmada
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Metadata of something without a namespace */}}
{{- define "control-plane.metadata" -}}
name: {{ include "control-plane.fullname" . | quote }}
labels:
  {{- include "control-plane.labels" . | nindent 2 }}
{{- end -}}

{{- define "control-plane.subjects" -}}
{{- $own := dict "kind" "ServiceAccount" "name" (include "control-plane.fullname" .) "namespace" .Release.Namespace -}}
{{- default (list $own) .Values.user.subjects | toYaml -}}
{{- end -}}

{{- define "control-plane.typesName" -}}
{{- include "control-plane.fullname" . | trunc 53 | trimSuffix "-" }}-types-api
{{- end -}}

{{/* Metadata of what belongs to the workload types API */}}
{{- define "control-plane.typesMetadata" -}}
name: {{ include "control-plane.typesName" . | quote }}
labels:
  {{- include "control-plane.labels" . | nindent 2 }}
{{- end -}}

{{- define "control-plane.clientConfig" -}}
{{- if .root.Values.admission.url }}
url: {{ .root.Values.admission.url }}{{ .path }}
{{- else }}
service:
  namespace: {{ .root.Release.Namespace | quote }}
  name: {{ include "control-plane.fullname" .root | quote }}
  port: {{ .root.Values.service.port }}
  path: {{ .path }}
{{- end }}
{{- with .root.Values.admission.caBundle }}
caBundle: {{ . }}
{{- end }}
{{- end -}}

{{/* Arguments: root, and operations */}}
{{- define "control-plane.rule" -}}
- apiGroups: [{{ (first .).Values.kartaApiGroup }}]
  apiVersions: [v1alpha1]
  resources: [kartas]
  operations: {{ rest . | toJson }}
  scope: Cluster
{{- end -}}
