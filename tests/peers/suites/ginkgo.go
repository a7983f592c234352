package main

import (
	"fmt"
	"go/ast"
)

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

// Reads Ginkgo's tables whose entries have an object, perhaps a second object, and the word. A case with a second object is
// left out: its word depends on both. So is a case with another word before the expected one.
func phases(all ...table) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		var cases []testCase
		reader.outer = scope{}
		defer func() { reader.outer = nil }()
		ast.Inspect(reader.parse(file), func(node ast.Node) bool {
			if statement, ok := node.(*ast.AssignStmt); ok {
				if function, ok := statement.Rhs[0].(*ast.FuncLit); ok {
					reader.outer[typeName(statement.Lhs[0])] = closure{function, nil}
				}
			}
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			for _, table := range all {
				if text(call.Args[0]) == table.function {
					// The functions of the table come before the entries that call them.
					cases = append(cases, table.phases(reader, call)...)
				}
			}
			return true
		})
		return cases
	}
}

func (table table) phases(reader *reader, group ast.Node) []testCase {
	var cases []testCase
	ast.Inspect(group, func(node ast.Node) bool {
		if statement, ok := node.(*ast.AssignStmt); ok {
			if function, ok := statement.Rhs[0].(*ast.FuncLit); ok {
				reader.outer[typeName(statement.Lhs[0])] = closure{function, nil}
			}
		}
		entry, ok := node.(*ast.CallExpr)
		if !ok || typeName(entry.Fun) != "Entry" || len(entry.Args) < 3 {
			return true
		}
		last := len(entry.Args) - 1
		if last == 3 && !isNothing(entry.Args[2]) {
			return false
		}
		value, err := reader.value(entry.Args[1], nil)
		object, isObject := printed(value).(map[string]any)
		word, other := reader.value(entry.Args[last], nil)
		if err != nil || other != nil || !isObject {
			notRead(table.function+" "+text(entry.Args[0]), fmt.Sprint(err, other))
			return false
		}
		object["apiVersion"], object["kind"] = table.apiVersion, table.kind
		id := table.kind + "/" + text(entry.Args[0])
		cases = append(cases, testCase{ID: id, Object: object, Word: fmt.Sprintf("phase %v", word)})
		return false
	})
	return cases
}

// Whether an argument is `nil`, or an empty text of a type.
func isNothing(argument ast.Expr) bool {
	if call, ok := argument.(*ast.CallExpr); ok && len(call.Args) == 1 {
		literal, ok := call.Args[0].(*ast.BasicLit)
		return ok && literal.Value == `""`
	}
	return typeName(argument) == "nil"
}

// `BeNil()` and `Not(HaveOccurred())` match an object without an error.
func matched(matcher ast.Expr) string {
	call, ok := matcher.(*ast.CallExpr)
	if ok && (typeName(call.Fun) == "BeNil" || typeName(call.Fun) == "Not") {
		return "ready"
	}
	return "not ready"
}
