package main

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"
)

// The fields of a case, and the word that the test expects.
type word func(reader *reader, fields map[string]ast.Expr) (string, error)

// The words for the two values of a field.
func truth(field, yes, no string) word {
	return func(reader *reader, fields map[string]ast.Expr) (string, error) {
		value := any(false)
		var err error
		if expression, ok := fields[field]; ok {
			value, err = reader.value(expression, nil)
		}
		if value == true {
			return yes, err
		}
		return no, err
	}
}

// Whether a condition of a type is true. A case that expects another condition counts only if that one is false.
func conditionWord(field, of string) word {
	return func(reader *reader, fields map[string]ast.Expr) (string, error) {
		value, err := reader.value(fields[field], nil)
		condition, _ := value.(map[string]any)
		switch {
		case err != nil:
			return "", err
		case condition["status"] != "True":
			return "not ready", nil
		case condition["type"] == of:
			return "ready", nil
		}
		return "", nil
	}
}

// The word of an object with a status that its controller writes. Flux's command calls an object of the other Kinds ready.
func dynamic(reader *reader, fields map[string]ast.Expr) (string, error) {
	for _, element := range fields["args"].(*ast.CompositeLit).Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if ok && typeName(pair.Key) == "statusType" && typeName(pair.Value) == "objectStatusStatic" {
			return "", nil
		}
	}
	return truth("want", "ready", "not ready")(reader, fields)
}

// The name of a field's constant, without its beginning.
func named(field, beginning string) word {
	return func(_ *reader, fields map[string]ast.Expr) (string, error) {
		return strings.TrimPrefix(typeName(fields[field]), beginning), nil
	}
}

// The text of a field.
func words(field string) word {
	return func(reader *reader, fields map[string]ast.Expr) (string, error) {
		value, err := reader.value(fields[field], nil)
		return fmt.Sprint(value), err
	}
}

// The state of Wrangler's summary, or `error`. A summary without either has no word: the function that is tested leaves such
// an object to others.
func summarized(reader *reader, fields map[string]ast.Expr) (string, error) {
	for _, field := range []string{"expectedError", "expectedTransit"} {
		value, err := reader.value(fields[field], nil)
		if err != nil {
			return "", err
		}
		if value == true && field == "expectedError" {
			return "error", nil
		}
		if value == true {
			state, err := reader.value(fields["expectedState"], nil)
			return fmt.Sprintf("transitioning %v", state), err
		}
	}
	return "", nil
}

// The state of a stage that Kargo's assertions name first.
func asserted(_ *reader, fields map[string]ast.Expr) (string, error) {
	found := ""
	ast.Inspect(fields["assertions"], func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if ok && found == "" && len(selector.Sel.Name) > len("HealthState") && selector.Sel.Name[:11] == "HealthState" {
			found = selector.Sel.Name[11:]
		}
		return true
	})
	if found == "" {
		return "", fmt.Errorf("no state")
	}
	return found, nil
}

// Reads tables of cases: lists of structs in test functions.
func tables(all ...table) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		var cases []testCase
		for _, declaration := range reader.parse(file).Decls {
			function, ok := declaration.(*ast.FuncDecl)
			for _, table := range all {
				if ok && function.Name.Name == table.function {
					cases = append(cases, table.cases(reader, function.Body)...)
				}
			}
		}
		return cases
	}
}

func (table table) cases(reader *reader, body *ast.BlockStmt) []testCase {
	reader.outer = scope{}
	defer func() { reader.outer = nil }()
	var cases []testCase
	for _, statement := range body.List {
		found := table.within(reader, statement)
		cases = append(cases, found...)
		if len(found) == 0 {
			// What cannot be read is an error of the cases that use it.
			_, _, _ = reader.statement(statement, reader.outer)
		}
	}
	return cases
}

// The type of the cases of a list or a map of structs.
func caseType(literal *ast.CompositeLit) *ast.StructType {
	element := ast.Expr(nil)
	switch of := literal.Type.(type) {
	case *ast.ArrayType:
		element = of.Elt
	case *ast.MapType:
		element = of.Value
	}
	of, _ := element.(*ast.StructType)
	return of
}

func (table table) within(reader *reader, statement ast.Stmt) []testCase {
	var cases []testCase
	ast.Inspect(statement, func(node ast.Node) bool {
		literal, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		of := caseType(literal)
		if of == nil {
			return true
		}
		for number, element := range literal.Elts {
			fields := fieldsOf(element, of)
			if value, err := reader.value(fields[table.without], nil); fields[table.without] != nil && (err != nil || value != nil) {
				continue
			}
			found, err := table.one(reader, fields)
			if err != nil {
				notRead(fmt.Sprintf("%s %d", table.function, number+1), err)
			} else if found.Word != "" {
				cases = append(cases, found)
			}
		}
		return false
	})
	return cases
}

func fieldsOf(element ast.Expr, of *ast.StructType) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	if pair, ok := element.(*ast.KeyValueExpr); ok {
		fields["name"], element = pair.Key, pair.Value
	}
	literal, ok := element.(*ast.CompositeLit)
	if !ok {
		return fields
	}
	var names []string
	for _, field := range of.Fields.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	for at, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			fields[typeName(pair.Key)] = pair.Value
		} else if at < len(names) {
			fields[names[at]] = element
		}
	}
	return fields
}

func (table table) one(reader *reader, fields map[string]ast.Expr) (testCase, error) {
	named := fields["name"]
	if named == nil {
		named = fields[table.object]
	}
	name, err := reader.value(named, nil)
	if err != nil {
		return testCase{}, err
	}
	object, err := table.read(reader, fields)
	if err != nil {
		return testCase{}, err
	}
	word, err := table.word(reader, fields)
	return testCase{ID: fmt.Sprintf("%s/%v", table.function, name), Object: object, Word: word}, err
}

// The object of a case, with its Kind and its conditions.
func (table table) read(reader *reader, fields map[string]ast.Expr) (map[string]any, error) {
	object := map[string]any{}
	if table.object != "" {
		value, err := table.part(reader, fields)
		if err != nil {
			return nil, err
		}
		ok := true
		if table.under != "" {
			object = nested(table.under, value)
		} else if object, ok = value.(map[string]any); !ok {
			return nil, fmt.Errorf("the object is %v", value)
		}
	}
	if table.kind != "" {
		object["apiVersion"], object["kind"] = table.apiVersion, table.kind
	}
	if table.conditions == "" || fields[table.conditions] == nil {
		return object, nil
	}
	conditions, err := reader.value(fields[table.conditions], nil)
	status, ok := object["status"].(map[string]any)
	if !ok {
		status = map[string]any{}
		object["status"] = status
	}
	status["conditions"] = conditions
	return object, err
}

// The value of a field, or of a part of it: `field.member.member`. Of a list it is the first item.
func (table table) part(reader *reader, fields map[string]ast.Expr) (any, error) {
	names := strings.Split(table.object, ".")
	expression, ok := fields[names[0]]
	if !ok {
		return nil, fmt.Errorf("the case has no object")
	}
	value, err := reader.value(expression, nil)
	for _, name := range names[1:] {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	if table.build != nil && err == nil {
		value, err = table.build(reader, value)
	}
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
		if table.single && len(list) > 1 {
			return nil, fmt.Errorf("the case has %d objects", len(list))
		}
	}
	return printed(value), err
}

// An object with a value at a path.
func nested(path string, value any) map[string]any {
	first, rest, more := strings.Cut(path, ".")
	if more {
		value = nested(rest, value)
	}
	return map[string]any{first: value}
}

// The text of a literal, or nothing.
func text(expression ast.Expr) string {
	literal, ok := expression.(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}
