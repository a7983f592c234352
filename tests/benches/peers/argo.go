package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

// Time a script has, as in Argo CD.
const scriptTimeout = time.Second

// argoLua runs Argo CD's own script for a Kind the way its util/lua does for built-in scripts: a new
// state with the libraries for every object, the object as tables, and the result by way of JSON. That
// package is not imported because it brings all of Argo CD; its replacement of `os` is left out.
func argoLua(object *unstructured.Unstructured) (string, string, error) {
	kind := object.GroupVersionKind()
	return runScript(object, path.Join(kind.Group, kind.Kind, "health.lua"))
}

func runScript(object *unstructured.Unstructured, name string) (string, string, error) {
	script, err := resource_customizations.Embedded.ReadFile(name)
	if err != nil {
		return "", "", fmt.Errorf("Argo CD has no script for it: %w", err)
	}
	state := lua.NewState()
	defer state.Close()
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("actionParams", state.CreateTable(0, 0))
	state.SetGlobal("obj", luaValue(state, object.Object))
	if err := state.DoString(string(script)); err != nil {
		return "", "", err
	}
	text, err := luajson.Encode(state.Get(-1))
	if err != nil {
		return "", "", err
	}
	var health struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(text, &health); err != nil {
		return "", "", err
	}
	return health.Status, health.Message, nil
}

func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case float64:
		return lua.LNumber(value)
	case int64:
		return lua.LNumber(value)
	case string:
		return lua.LString(value)
	case []any:
		list := state.CreateTable(len(value), 0)
		for _, item := range value {
			list.Append(luaValue(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for key, item := range value {
			table.RawSetH(lua.LString(key), luaValue(state, item))
		}
		return table
	}
	return lua.LNil
}
