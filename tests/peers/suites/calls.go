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
	case "Itoa":
		value, err := reader.value(call.Args[0], names)
		return fmt.Sprint(value), err
	}
	if value, ok, err := reader.method(name, call, names); ok {
		return value, err
	}
	if function, ok := reader.functions[name]; ok {
		return reader.run(function.Type, function.Body, call, scope{}, names)
	}
	if len(call.Args) == 1 {
		return reader.value(call.Args[0], names)
	}
	return nil, fmt.Errorf("%s is unknown", name)
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
