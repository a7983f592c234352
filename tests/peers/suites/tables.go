package main

import (
	"fmt"
	"go/ast"
	"strconv"
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

func (table table) cases(reader *reader, body ast.Node) []testCase {
	var cases []testCase
	ast.Inspect(body, func(node ast.Node) bool {
		literal, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		list, ok := literal.Type.(*ast.ArrayType)
		if !ok {
			return true
		}
		if _, ok := list.Elt.(*ast.StructType); !ok {
			return true
		}
		for number, element := range literal.Elts {
			fields := fieldsOf(element)
			if fields[table.without] != nil {
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

func fieldsOf(element ast.Expr) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	literal, ok := element.(*ast.CompositeLit)
	if !ok {
		return fields
	}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			fields[typeName(pair.Key)] = pair.Value
		}
	}
	return fields
}

func (table table) one(reader *reader, fields map[string]ast.Expr) (testCase, error) {
	name, err := reader.value(fields["name"], nil)
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
		expression, ok := fields[table.object]
		if !ok {
			return nil, fmt.Errorf("the case has no object")
		}
		value, err := reader.value(expression, nil)
		if err != nil {
			return nil, err
		}
		if table.under != "" {
			object[table.under] = value
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

// Reads Ginkgo's tables: `DescribeTable(name, function, Entry(name, object, matcher)...)`, also in a `Context` of that name.
func entries(all ...table) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		var cases []testCase
		ast.Inspect(reader.parse(file), func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			for _, table := range all {
				if text(call.Args[0]) == table.function {
					cases = append(cases, table.entries(reader, call)...)
				}
			}
			return true
		})
		return cases
	}
}

func (table table) entries(reader *reader, group ast.Node) []testCase {
	var cases []testCase
	ast.Inspect(group, func(node ast.Node) bool {
		entry, ok := node.(*ast.CallExpr)
		if !ok || typeName(entry.Fun) != "Entry" || len(entry.Args) != 3 {
			return true
		}
		value, err := reader.value(entry.Args[1], nil)
		object, isObject := value.(map[string]any)
		if err != nil || !isObject {
			notRead(table.function+" "+text(entry.Args[0]), err)
			return false
		}
		object["apiVersion"], object["kind"] = table.apiVersion, table.kind
		found := testCase{ID: table.function + "/" + text(entry.Args[0]), Object: object, Word: matched(entry.Args[2])}
		cases = append(cases, found)
		return false
	})
	return cases
}

// `BeNil()` and `Not(HaveOccurred())` match an object without an error.
func matched(matcher ast.Expr) string {
	call, ok := matcher.(*ast.CallExpr)
	if ok && (typeName(call.Fun) == "BeNil" || typeName(call.Fun) == "Not") {
		return "ready"
	}
	return "not ready"
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
