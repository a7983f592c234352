// Evaluates CEL expressions with Flux's engine.
//
//	peer                 standard input has one case a line, as JSON; output has one result a line
//	peer CHECKS OBJECTS  evaluates the checks in a JSON file on one JSON object a line, for the benchmark
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
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
	if len(os.Args) == 3 {
		evaluateAll(os.Args[1], os.Args[2])
		return
	}
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

// evaluateAll compiles the checks once, as Flux does for a reconciliation.
func evaluateAll(checksPath, objectsPath string) {
	text := must(os.ReadFile(checksPath))
	var checks kustomize.HealthCheckExpressions
	if err := json.Unmarshal(text, &checks); err != nil {
		panic(err)
	}
	evaluator := must(cel.NewStatusEvaluator(&checks))
	file := must(os.Open(objectsPath))
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), 1<<24)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		object := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(lines.Bytes(), &object.Object); err != nil {
			panic(err)
		}
		result := must(evaluator.Evaluate(context.Background(), object))
		line := must(json.Marshal([]string{object.GetName(), result.Status.String(), result.Message}))
		out.Write(line)
		out.WriteByte('\n')
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
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
