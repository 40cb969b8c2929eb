{{/* The name of all objects, and the label that selects them: one release of this name, or the release's name before it. */}}
{{- define "svc-gateway.name" -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc-gateway.labels" -}}
app.kubernetes.io/name: {{ include "svc-gateway.name" . }}
{{- end -}}
