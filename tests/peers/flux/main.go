// Evaluates CEL expressions with Flux's engine. It reads one case a line as JSON, and writes one result a line as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type testCase struct {
	Expression string                            `json:"expression"`
	Checks     *kustomize.HealthCheckExpressions `json:"checks"`
	Object     json.RawMessage                   `json:"object"`
}

type result struct {
	Value  string `json:"value,omitempty"`
	Status string `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(c.Object); err != nil {
			panic(err)
		}
		if err := out.Encode(run(c, object)); err != nil {
			panic(err)
		}
	}
}

func run(c testCase, object *unstructured.Unstructured) result {
	ctx := context.Background()
	if c.Checks != nil {
		e, err := cel.NewStatusEvaluator(c.Checks)
		if err != nil {
			return result{Error: err.Error()}
		}
		r, err := e.Evaluate(ctx, object)
		if err != nil {
			return result{Error: err.Error()}
		}
		return result{Status: r.Status.String()}
	}
	e, err := cel.NewExpression(c.Expression)
	if err != nil {
		return result{Error: err.Error()}
	}
	v, err := e.EvaluateString(ctx, object.Object)
	if err != nil {
		return result{Error: err.Error()}
	}
	return result{Value: v}
}
