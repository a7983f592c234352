package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// A function in a test, with the variables that it sees.
type closure struct {
	function *ast.FuncLit
	names    scope
}

// The name of the type of a method's receiver.
func receiver(method *ast.FuncDecl) string {
	return typeName(method.Recv.List[0].Type)
}

// Runs a function that builds an object: definitions, assignments to members, conditions, loops over lists, and a result.
// `inner` has the variables that the function sees beside its parameters.
func (reader *reader) run(of *ast.FuncType, body *ast.BlockStmt, call *ast.CallExpr, inner, names scope) (any, error) {
	var arguments []any
	for _, argument := range call.Args {
		value, err := reader.value(argument, names)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, value)
	}
	if last, ok := lastList(arguments); ok && call.Ellipsis.IsValid() {
		arguments = append(arguments[:len(arguments)-1], last...)
	}
	return reader.apply(of, body, arguments, inner)
}

// The last argument, if it is a list.
func lastList(arguments []any) ([]any, bool) {
	if len(arguments) == 0 {
		return nil, false
	}
	list, ok := arguments[len(arguments)-1].([]any)
	return list, ok
}

func (reader *reader) apply(of *ast.FuncType, body *ast.BlockStmt, arguments []any, inner scope) (any, error) {
	at := 0
	for _, field := range of.Params.List {
		for _, name := range field.Names {
			if _, isVariadic := field.Type.(*ast.Ellipsis); isVariadic {
				inner[name.Name] = arguments[min(at, len(arguments)):]
				continue
			}
			if at >= len(arguments) {
				return nil, fmt.Errorf("too few arguments for %s", name.Name)
			}
			inner[name.Name] = arguments[at]
			at++
		}
	}
	result, _, err := reader.statements(body.List, inner)
	return result, err
}

// Runs a function in a test.
func (reader *reader) enter(closure closure, arguments []any) (any, error) {
	inner := scope{}
	for name, value := range closure.names {
		inner[name] = value
	}
	return reader.apply(closure.function.Type, closure.function.Body, arguments, inner)
}

// The result of statements, and whether they end the function.
func (reader *reader) statements(list []ast.Stmt, names scope) (any, bool, error) {
	for _, statement := range list {
		value, ends, err := reader.statement(statement, names)
		if ends || err != nil {
			return value, true, err
		}
	}
	return nil, false, nil
}

func (reader *reader) statement(statement ast.Stmt, names scope) (any, bool, error) {
	switch statement := statement.(type) {
	case *ast.ReturnStmt:
		if len(statement.Results) == 0 {
			return nil, true, nil
		}
		value, err := reader.value(statement.Results[0], names)
		return value, true, err
	case *ast.AssignStmt:
		return nil, false, reader.assign(statement, names)
	case *ast.ExprStmt:
		_, err := reader.value(statement.X, names)
		return nil, false, err
	case *ast.BlockStmt:
		return reader.statements(statement.List, names)
	case *ast.RangeStmt:
		return reader.loop(statement, names)
	case *ast.IfStmt:
		holds, err := reader.holds(statement.Cond, names)
		switch {
		case err != nil:
			return nil, true, err
		case holds:
			return reader.statements(statement.Body.List, names)
		case statement.Else != nil:
			return reader.statement(statement.Else, names)
		}
		return nil, false, nil
	}
	return nil, true, fmt.Errorf("%T is not read", statement)
}

func (reader *reader) loop(statement *ast.RangeStmt, names scope) (any, bool, error) {
	over, err := reader.value(statement.X, names)
	items, isList := over.([]any)
	if members, ok := over.(map[string]any); ok {
		for _, key := range slices.Sorted(maps.Keys(members)) {
			items = append(items, members[key])
		}
		isList = true
	}
	if err != nil || !isList {
		return nil, true, fmt.Errorf("no list: %v", err)
	}
	for _, item := range items {
		if name, ok := statement.Value.(*ast.Ident); ok {
			names[name.Name] = item
		}
		if value, ends, err := reader.statements(statement.Body.List, names); ends || err != nil {
			return value, true, err
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
	case *ast.SelectorExpr:
		into, err := reader.place(target.X, names)
		if err != nil {
			return err
		}
		key := jsonName(target.Sel.Name)
		if promoted[target.Sel.Name] && into["name"] == nil && into["type"] == nil {
			if into["metadata"] == nil {
				into["metadata"] = map[string]any{}
			}
			into, _ = into["metadata"].(map[string]any)
		}
		into[key] = value
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

// The members of a variable or of a part of it. A part that is missing is made.
func (reader *reader) place(expression ast.Expr, names scope) (map[string]any, error) {
	if selector, ok := expression.(*ast.SelectorExpr); ok {
		holder, err := reader.place(selector.X, names)
		if err != nil {
			return nil, err
		}
		key := jsonName(selector.Sel.Name)
		if holder[key] == nil {
			holder[key] = map[string]any{}
		}
		if members, ok := holder[key].(map[string]any); ok {
			return members, nil
		}
	}
	value, err := reader.value(expression, names)
	if members, ok := value.(map[string]any); ok && err == nil {
		return members, nil
	}
	return nil, fmt.Errorf("no members: %v", err)
}

// The members of what stands before a dot, unless it is the name of a package.
func (reader *reader) holder(expression ast.Expr, names scope) (map[string]any, bool) {
	if name, ok := expression.(*ast.Ident); ok {
		value, isThere := names[name.Name]
		if !isThere {
			value, isThere = reader.outer[name.Name]
		}
		members, isObject := value.(map[string]any)
		return members, isThere && (isObject || value == nil)
	}
	value, err := reader.value(expression, names)
	members, isObject := value.(map[string]any)
	return members, err == nil && (isObject || value == nil)
}

func member(holder map[string]any, field string) any {
	if value, ok := holder[jsonName(field)]; ok {
		return value
	}
	if metadata, ok := holder["metadata"].(map[string]any); ok && promoted[field] {
		return metadata[jsonName(field)]
	}
	return nil
}

// A comparison, or a value that is true or false.
func (reader *reader) holds(condition ast.Expr, names scope) (bool, error) {
	binary, ok := condition.(*ast.BinaryExpr)
	if !ok {
		value, err := reader.value(condition, names)
		return value == true, err
	}
	left, err := reader.value(binary.X, names)
	if err != nil {
		return false, err
	}
	right, err := reader.value(binary.Y, names)
	if err != nil {
		return false, err
	}
	switch binary.Op {
	case token.EQL:
		return same(left, right), nil
	case token.NEQ:
		return !same(left, right), nil
	}
	a, isNumber := left.(int64)
	b, areNumbers := right.(int64)
	if !isNumber || !areNumbers || binary.Op != token.GEQ {
		return false, fmt.Errorf("%v %v %v is not compared", left, binary.Op, right)
	}
	return a >= b, nil
}

func same(left, right any) bool {
	return fmt.Sprint(left) == fmt.Sprint(right)
}

// The value of a call of a method, of a function in a variable, or of a known function of a library.
func (reader *reader) method(name string, call *ast.CallExpr, names scope) (any, bool, error) {
	if function, ok := call.Fun.(*ast.Ident); ok {
		value, isThere := names[function.Name]
		if !isThere {
			value = reader.outer[function.Name]
		}
		closure, isFunction := value.(closure)
		if !isFunction {
			return nil, false, nil
		}
		arguments, err := reader.values(call.Args, names)
		if err != nil {
			return nil, true, err
		}
		value, err = reader.enter(closure, arguments)
		return value, true, err
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, false, nil
	}
	switch {
	case name == "DeepCopy":
		value, err := reader.value(selector.X, names)
		return copied(value), true, err
	case name == "Add":
		return aTime, true, nil
	case name == "String" && len(call.Args) == 0:
		value, err := reader.value(selector.X, names)
		return value, true, err
	case name == "MarkTrue" || name == "MarkFalse":
		value, err := reader.mark(name, call, names)
		return value, true, err
	case name == "TrueCondition":
		arguments, err := reader.values(call.Args, names)
		return condition("True", arguments), true, err
	}
	holder, ok := reader.holder(selector.X, names)
	if !ok {
		return nil, false, nil
	}
	if name == "GetAnnotations" || name == "SetAnnotations" {
		value, err := reader.annotations(name, holder, call, names)
		return value, true, err
	}
	function := reader.methods[fmt.Sprint(holder[typeMember])][name]
	if function == nil {
		return nil, false, nil
	}
	inner := scope{}
	for _, itself := range function.Recv.List[0].Names {
		inner[itself.Name] = holder
	}
	value, err := reader.run(function.Type, function.Body, call, inner, names)
	return value, true, err
}

func (reader *reader) values(expressions []ast.Expr, names scope) ([]any, error) {
	var values []any
	for _, expression := range expressions {
		value, err := reader.value(expression, names)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// Flux's `MarkTrue` and `MarkFalse`: they replace the condition, with the generation of the object.
func (reader *reader) mark(name string, call *ast.CallExpr, names scope) (any, error) {
	arguments, err := reader.values(call.Args, names)
	if err != nil || len(arguments) < 4 {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	object, ok := arguments[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: no object", name)
	}
	status := map[bool]string{true: "True", false: "False"}[name == "MarkTrue"]
	marked := condition(status, arguments[1:])
	if generation := member(object, "Generation"); generation != nil {
		marked["observedGeneration"] = generation
	}
	into, ok := object["status"].(map[string]any)
	if !ok {
		into = map[string]any{}
		object["status"] = into
	}
	into["conditions"] = []any{marked}
	return nil, nil
}

// A condition of a type, a reason and a message.
func condition(status string, arguments []any) map[string]any {
	members := map[string]any{"status": status}
	for i, member := range []string{"type", "reason", "message"} {
		if i < len(arguments) {
			members[member] = arguments[i]
		}
	}
	return members
}

// A copy of an object.
func copied(value any) any {
	switch value := value.(type) {
	case map[string]any:
		members := map[string]any{}
		for key, part := range value {
			members[key] = copied(part)
		}
		return members
	case []any:
		list := []any{}
		for _, part := range value {
			list = append(list, copied(part))
		}
		return list
	}
	return value
}

// The object as it is printed: without names of types and without functions.
func printed(value any) any {
	if members, ok := copied(value).(map[string]any); ok {
		delete(members, typeMember)
		for key, part := range members {
			members[key] = printed(part)
		}
		return members
	}
	if list, ok := value.([]any); ok {
		parts := []any{}
		for _, part := range list {
			parts = append(parts, printed(part))
		}
		return parts
	}
	if _, err := json.Marshal(value); err != nil {
		return nil
	}
	return value
}
