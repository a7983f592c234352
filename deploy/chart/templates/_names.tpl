{{- define "kindsight.name" -}}
{{- if contains "kindsight" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-kindsight" (.Release.Name | trunc 40) }}{{ end }}
{{- end }}

{{- define "kindsight.selector" -}}
app.kubernetes.io/name: kindsight
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kindsight.metadata" -}}
name: {{ include "kindsight.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "kindsight.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* Roles of the cluster have no namespace. Two releases of the same name in two namespaces must not share them. */}}
{{- define "kindsight.cluster-metadata" -}}
name: {{ printf "%s-%s" .Release.Namespace (include "kindsight.name" .) }}
labels:
  {{- include "kindsight.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "kindsight.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "kindsight.name" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}

{{/* Settings that contradict each other. The schema checks each value by itself. */}}
{{- define "kindsight.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.etcd.endpoints) }}
{{- fail "`replicas` is larger than 1: several Pods share their data in an etcd; set `etcd.endpoints`, or `replicas: 1`" }}
{{- end }}
{{- if and .Values.access.tokenReview .Values.namespaces }}
{{- fail "`access.tokenReview` needs a ClusterRoleBinding, and `namespaces` is for installations without rights in the cluster; set only one of them" }}
{{- end }}
{{- end }}
