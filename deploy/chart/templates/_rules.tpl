{{/* The permissions of deploy/rbac.yaml; a test compares them. `kindsight.namespace-rules` are those of a namespace. */}}
{{- define "kindsight.cluster-rules" -}}
- apiGroups: [""]
  resources:
    - configmaps
    - limitranges
    - namespaces
    - nodes
    - persistentvolumeclaims
    - persistentvolumes
    - pods
    - podtemplates
    - replicationcontrollers
    - resourcequotas
    - serviceaccounts
    - services
  verbs: ["get", "list", "watch"]
- apiGroups:
    - admissionregistration.k8s.io
    - apiextensions.k8s.io
    - apiregistration.k8s.io
    - apps
    - autoscaling
    - batch
    - certificates.k8s.io
    - discovery.k8s.io
    - flowcontrol.apiserver.k8s.io
    - gateway.networking.k8s.io
    - k8s.plugin.opnfv.org
    - k8splugin.io
    - networking.k8s.io
    - node.k8s.io
    - policy
    - rbac.authorization.k8s.io
    - resource.k8s.io
    - scheduling.k8s.io
    - storage.k8s.io
  resources: ["*"]
  verbs: ["get", "list", "watch"]
{{ include "kindsight.inventory-rules" . }}
{{- end }}

{{- define "kindsight.namespace-rules" -}}
- apiGroups: [""]
  resources:
    - configmaps
    - limitranges
    - persistentvolumeclaims
    - pods
    - podtemplates
    - replicationcontrollers
    - resourcequotas
    - serviceaccounts
    - services
  verbs: ["get", "list", "watch"]
- apiGroups:
    - apps
    - autoscaling
    - batch
    - discovery.k8s.io
    - gateway.networking.k8s.io
    - k8s.plugin.opnfv.org
    - k8splugin.io
    - networking.k8s.io
    - policy
    - rbac.authorization.k8s.io
    - resource.k8s.io
    - storage.k8s.io
  resources: ["*"]
  verbs: ["get", "list", "watch"]
{{ include "kindsight.inventory-rules" . }}
{{- end }}

{{- define "kindsight.inventory-rules" -}}
- apiGroups: ["argoproj.io"]
  resources: ["applications"]
  verbs: ["get", "list", "watch"]
- apiGroups: ["kustomize.toolkit.fluxcd.io"]
  resources: ["kustomizations"]
  verbs: ["get", "list", "watch"]
- apiGroups: ["helm.toolkit.fluxcd.io"]
  resources: ["helmreleases"]
  verbs: ["get", "list", "watch"]
{{- with .Values.extraRules }}
{{ toYaml . }}
{{- end }}
{{- end }}
