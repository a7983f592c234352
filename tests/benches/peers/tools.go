package main

import (
	"io/fs"
	"path"
	"strings"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	argo "github.com/argoproj/gitops-engine/pkg/health"
	flanksource "github.com/flanksource/is-healthy/pkg/health"
	karmada "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/native"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/thirdparty"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubectl/pkg/polymorphichelpers"
)

// noRule is the status of an object whose Kind the tool has no rule for.
const noRule = "NoRule"

// argoCD judges as Argo CD does: its script for the Kind, else the Go function of gitops-engine.
func argoCD(object *unstructured.Unstructured) (string, string, error) {
	result, err := argo.GetResourceHealth(object, scripts{})
	if result == nil {
		return noRule, "", err
	}
	return string(result.Status), result.Message, nil
}

// scripts are Argo CD's health checks in Lua.
type scripts struct{}

func (scripts) GetResourceHealth(object *unstructured.Unstructured) (*argo.HealthStatus, error) {
	kind := object.GroupVersionKind()
	script := scriptOf(kind.Group, kind.Kind)
	if script == "" {
		return nil, nil
	}
	status, message, err := runScript(object, script)
	if err != nil {
		return nil, err
	}
	return &argo.HealthStatus{Status: argo.HealthStatusCode(status), Message: message}, nil
}

// scriptOf returns the path of the script for a Kind: its own, else one of a folder in whose name `_` stands for any text.
func scriptOf(group, kind string) string {
	exact := path.Join(group, kind, "health.lua")
	if _, err := resource_customizations.Embedded.ReadFile(exact); err == nil {
		return exact
	}
	folders, _ := fs.Glob(resource_customizations.Embedded, "*_*/*/health.lua")
	for _, script := range folders {
		pattern := strings.ReplaceAll(path.Dir(script), "_", "*")
		if matches, _ := path.Match(pattern, path.Join(group, kind)); matches {
			return script
		}
	}
	return ""
}

// isHealthy judges as Flanksource's is-healthy does. Its status names a suspended or deleted object more exactly.
func isHealthy(object *unstructured.Unstructured) (string, string, error) {
	result, err := flanksource.GetResourceHealth(object, nil)
	if err != nil || result == nil {
		return noRule, "", nil
	}
	switch result.Status {
	case flanksource.HealthStatusSuspended, flanksource.HealthStatusTerminating, flanksource.HealthStatusDeleting:
		return string(result.Status), result.Message, nil
	}
	status := string(result.Health)
	if result.Health == flanksource.HealthHealthy && !result.Ready {
		status = "healthy-not-ready"
	}
	return status, result.Message, nil
}

// karmadaHealth returns a judge with Karmada's interpreters: the built-in ones, else the scripts for other projects.
func karmadaHealth() judge {
	builtIn, scripts := native.NewDefaultInterpreter(), thirdparty.NewConfigurableInterpreter()
	return func(object *unstructured.Unstructured) (string, string, error) {
		if builtIn.HookEnabled(object.GroupVersionKind(), karmada.InterpreterOperationInterpretHealth) {
			return healthy(builtIn.InterpretHealth(object))
		}
		isHealthy, hasRule, err := scripts.InterpretHealth(object)
		if !hasRule {
			return noRule, "", nil
		}
		return healthy(isHealthy, err)
	}
}

func healthy(isHealthy bool, err error) (string, string, error) {
	switch {
	case err != nil:
		return "Unknown", err.Error(), nil
	case isHealthy:
		return "Healthy", "", nil
	}
	return "Unhealthy", "", nil
}

// kubectlRollout judges as `kubectl rollout status` does.
func kubectlRollout(object *unstructured.Unstructured) (string, string, error) {
	viewer, err := polymorphichelpers.StatusViewerFor(object.GroupVersionKind().GroupKind())
	if err != nil {
		return noRule, "", nil
	}
	message, done, err := viewer.Status(object, 0)
	message = strings.TrimSpace(message)
	switch {
	case err != nil:
		return "Error", err.Error(), nil
	case done:
		return "Done", message, nil
	}
	return "Waiting", message, nil
}
