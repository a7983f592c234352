package main

import (
	"fmt"
	"go/ast"
	"go/token"
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
	}
	if function, ok := reader.functions[name]; ok {
		return reader.run(function, call, names)
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

// Runs a function that builds an object: definitions, assignments to members, conditions on numbers, and a result.
func (reader *reader) run(function *ast.FuncDecl, call *ast.CallExpr, names scope) (any, error) {
	inner := scope{}
	at := 0
	for _, field := range function.Type.Params.List {
		for _, name := range field.Names {
			if at >= len(call.Args) {
				return nil, fmt.Errorf("%s: too few arguments", function.Name.Name)
			}
			value, err := reader.value(call.Args[at], names)
			if err != nil {
				return nil, err
			}
			inner[name.Name] = value
			at++
		}
	}
	result, _, err := reader.statements(function.Body.List, inner)
	return result, err
}

// The result of statements, and whether they end the function.
func (reader *reader) statements(list []ast.Stmt, names scope) (any, bool, error) {
	for _, statement := range list {
		switch statement := statement.(type) {
		case *ast.ReturnStmt:
			value, err := reader.value(statement.Results[0], names)
			return value, true, err
		case *ast.AssignStmt:
			if err := reader.assign(statement, names); err != nil {
				return nil, true, err
			}
		case *ast.IfStmt:
			holds, err := reader.compare(statement.Cond, names)
			if err != nil {
				return nil, true, err
			}
			if holds {
				if value, ends, err := reader.statements(statement.Body.List, names); ends || err != nil {
					return value, true, err
				}
			}
		default:
			return nil, true, fmt.Errorf("%T is not read", statement)
		}
	}
	return nil, false, nil
}

func (reader *reader) assign(statement *ast.AssignStmt, names scope) error {
	value, err := reader.value(statement.Rhs[0], names)
	if err != nil {
		return err
	}
	switch target := statement.Lhs[0].(type) {
	case *ast.Ident:
		names[target.Name] = value
		return nil
	case *ast.IndexExpr:
		into, err := reader.value(target.X, names)
		if err != nil {
			return err
		}
		key, err := reader.value(target.Index, names)
		if members, ok := into.(map[string]any); ok && err == nil {
			members[fmt.Sprint(key)] = value
			return nil
		}
	}
	return fmt.Errorf("%T is not assigned", statement.Lhs[0])
}

func (reader *reader) compare(condition ast.Expr, names scope) (bool, error) {
	binary, ok := condition.(*ast.BinaryExpr)
	if !ok || binary.Op != token.GEQ {
		return false, fmt.Errorf("%T is no comparison", condition)
	}
	left, err := reader.value(binary.X, names)
	if err != nil {
		return false, err
	}
	right, err := reader.value(binary.Y, names)
	if err != nil {
		return false, err
	}
	a, isNumber := left.(int64)
	b, areNumbers := right.(int64)
	if !isNumber || !areNumbers {
		return false, fmt.Errorf("%v and %v are no numbers", left, right)
	}
	return a >= b, nil
}
