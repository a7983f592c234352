package main

import (
	"fmt"
	"go/ast"
)

// The value of a call: a conversion, a pointer to a value, the time, or a function of the tests that builds an object.
func (reader *reader) call(call *ast.CallExpr, names scope) (any, error) {
	name := typeName(call.Fun)
	switch name {
	case "Now":
		return aTime, nil
	case "Date":
		return reader.date(call, names)
	case "NewCondition":
		return reader.condition(call, names)
	case "make":
		return map[string]any{}, nil
	case "append":
		return reader.append(call, names)
	case "Parse":
		// A time of a text.
		return reader.value(call.Args[len(call.Args)-1], names)
	case "SetNestedSlice", "SetNestedField":
		return nil, reader.setNested(call, names)
	case "CertificateName":
		// A name for another object. No rule reads it.
		return "example", nil
	case "Itoa":
		value, err := reader.value(call.Args[0], names)
		return fmt.Sprint(value), err
	}
	if value, ok, err := reader.method(name, call, names); ok {
		return value, err
	}
	if literal, ok := call.Fun.(*ast.FuncLit); ok {
		return reader.enter(closure{literal, names}, nil)
	}
	if function, ok := reader.functions[name]; ok {
		return reader.run(function.Type, function.Body, call, scope{}, names)
	}
	if len(call.Args) == 1 {
		return reader.value(call.Args[0], names)
	}
	return nil, fmt.Errorf("%s is unknown", name)
}

// `unstructured.SetNestedField` and its like: the object, the value, and the names of the members.
func (reader *reader) setNested(call *ast.CallExpr, names scope) error {
	arguments, err := reader.values(call.Args, names)
	if err != nil || len(arguments) != 3 {
		return fmt.Errorf("no value is set: %v", err)
	}
	into, isObject := arguments[0].(map[string]any)
	path, isPath := arguments[2].([]any)
	if !isObject || !isPath || len(path) == 0 {
		return fmt.Errorf("no object or no path")
	}
	for _, name := range path[:len(path)-1] {
		inner, ok := into[fmt.Sprint(name)].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[fmt.Sprint(name)] = inner
		}
		into = inner
	}
	into[fmt.Sprint(path[len(path)-1])] = arguments[1]
	return nil
}

// `GetAnnotations` and `SetAnnotations` of an unstructured object.
func (reader *reader) annotations(name string, holder map[string]any, call *ast.CallExpr, names scope) (any, error) {
	object, _ := holder["object"].(map[string]any)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("no metadata")
	}
	if name == "GetAnnotations" {
		return metadata["annotations"], nil
	}
	value, err := reader.value(call.Args[0], names)
	metadata["annotations"] = value
	return nil, err
}

// `time.Date` with numbers, in UTC.
func (reader *reader) date(call *ast.CallExpr, names scope) (any, error) {
	numbers := []any{}
	for _, argument := range call.Args[:min(6, len(call.Args))] {
		value, err := reader.value(argument, names)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, value)
	}
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", numbers...), nil
}

// Wrangler's condition: type, status, reason, message.
func (reader *reader) condition(call *ast.CallExpr, names scope) (any, error) {
	members := map[string]any{}
	for i, member := range []string{"type", "status", "reason", "message"} {
		if i >= len(call.Args) {
			return nil, fmt.Errorf("a condition has 4 arguments")
		}
		value, err := reader.value(call.Args[i], names)
		if err != nil {
			return nil, err
		}
		members[member] = value
	}
	return members, nil
}

func (reader *reader) append(call *ast.CallExpr, names scope) (any, error) {
	first, err := reader.value(call.Args[0], names)
	list, _ := first.([]any)
	for _, argument := range call.Args[1:] {
		var value any
		if err == nil {
			value, err = reader.value(argument, names)
		}
		list = append(list, value)
	}
	return list, err
}
