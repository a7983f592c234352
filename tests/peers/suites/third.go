package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// Reads tests with Gomega that build an object step by step, call a function with it, and expect a member of the result:
// `result := function(object)`, then `g.Expect(result.member).To(Equal(word))`, also in `t.Run`.
func expected(function, member string, versions map[string]string) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		of := built{reader, function, member, versions, nil}
		for _, declaration := range reader.parse(file).Decls {
			test, ok := declaration.(*ast.FuncDecl)
			if ok && test.Recv == nil && strings.HasPrefix(test.Name.Name, "Test") {
				of.within(test.Name.Name, test.Body.List)
			}
		}
		return of.cases
	}
}

type built struct {
	reader   *reader
	function string
	member   string
	// The API version of each Kind.
	versions map[string]string
	cases    []testCase
}

func (built *built) within(name string, list []ast.Stmt) {
	names := scope{}
	var object map[string]any
	for _, statement := range list {
		switch statement := statement.(type) {
		case *ast.AssignStmt:
			call, ok := statement.Rhs[0].(*ast.CallExpr)
			if ok && typeName(call.Fun) == built.function {
				value, err := built.reader.value(call.Args[0], names)
				holder, _ := copied(value).(map[string]any)
				object, _ = holder["object"].(map[string]any)
				if err != nil {
					notRead(name, err)
				}
				continue
			}
		case *ast.ExprStmt:
			if inner, of := subtest(statement); inner != nil {
				built.within(name+"/"+of, inner.List)
				continue
			}
			if word := built.word(statement); word != nil && object != nil {
				built.add(name, object, word)
				object = nil
			}
		}
		// What cannot be read is an error of the cases that use it.
		_, _, _ = built.reader.statement(statement, names)
	}
}

// The body and the name of `t.Run(name, func(t *testing.T) {…})`.
func subtest(statement *ast.ExprStmt) (*ast.BlockStmt, string) {
	call, ok := statement.X.(*ast.CallExpr)
	if !ok || typeName(call.Fun) != "Run" || len(call.Args) != 2 {
		return nil, ""
	}
	function, ok := call.Args[1].(*ast.FuncLit)
	if !ok {
		return nil, ""
	}
	return function.Body, text(call.Args[0])
}

// The expected word of `g.Expect(result.member).To(Equal(word))`.
func (built *built) word(statement *ast.ExprStmt) ast.Expr {
	to, ok := statement.X.(*ast.CallExpr)
	if !ok || typeName(to.Fun) != "To" || len(to.Args) == 0 {
		return nil
	}
	selector, _ := to.Fun.(*ast.SelectorExpr)
	expect, ok := selector.X.(*ast.CallExpr)
	equal, isEqual := to.Args[0].(*ast.CallExpr)
	if !ok || !isEqual || typeName(expect.Fun) != "Expect" || typeName(expect.Args[0]) != built.member || typeName(equal.Fun) != "Equal" {
		return nil
	}
	return equal.Args[0]
}

func (built *built) add(name string, object map[string]any, expression ast.Expr) {
	word, err := built.reader.value(expression, nil)
	version := built.versions[fmt.Sprint(object["kind"])]
	if err != nil || version == "" {
		notRead(name, fmt.Sprintf("%v of another project: %v", object["kind"], err))
		return
	}
	object["apiVersion"] = version
	built.cases = append(built.cases, testCase{ID: name, Object: object, Word: fmt.Sprint(word)})
}

// Reads a table whose cases have a status in YAML, and a list of parts with a state each. The word is the states of all parts.
func states(function, head, summary, parts, state string) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		var cases []testCase
		for _, test := range functionsNamed(reader, file, function) {
			for _, row := range rows(test.Body) {
				fields := fieldsOf(row, &ast.StructType{Fields: &ast.FieldList{}})
				document := text(fields[summary])
				if document == "" {
					continue
				}
				word, err := statesOf(reader, fields[parts], state)
				if err != nil {
					notRead(text(fields["description"]), err)
					continue
				}
				found := testCase{ID: function + "/" + text(fields["description"]), YAML: head + outdented(document), Word: word}
				cases = append(cases, found)
			}
		}
		return cases
	}
}

// The functions of a file with this name.
func functionsNamed(reader *reader, file, name string) []*ast.FuncDecl {
	var named []*ast.FuncDecl
	for _, declaration := range reader.parse(file).Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Name.Name == name {
			named = append(named, function)
		}
	}
	return named
}

// The elements of the lists that a function assigns.
func rows(body *ast.BlockStmt) []ast.Expr {
	var all []ast.Expr
	for _, statement := range body.List {
		assignment, ok := statement.(*ast.AssignStmt)
		if !ok {
			continue
		}
		if list, ok := assignment.Rhs[0].(*ast.CompositeLit); ok {
			all = append(all, list.Elts...)
		}
	}
	return all
}

// The different states of all parts, in order of the alphabet.
func statesOf(reader *reader, expression ast.Expr, state string) (string, error) {
	list, ok := expression.(*ast.CompositeLit)
	if !ok {
		return "", fmt.Errorf("no parts")
	}
	var all []string
	for _, part := range list.Elts {
		value, err := reader.value(fieldsOf(part, &ast.StructType{Fields: &ast.FieldList{}})[state], nil)
		if err != nil {
			return "", err
		}
		all = append(all, fmt.Sprint(value))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", "), nil
}

// A document in YAML without the indentation of its first line.
func outdented(document string) string {
	document = strings.TrimLeft(document, "\n")
	indentation := document[:len(document)-len(strings.TrimLeft(document, " "))]
	return strings.ReplaceAll("\n"+document, "\n"+indentation, "\n")
}

// Reads Kubeapps' tables: the names of variables with a HelmRelease, and of variables with a summary or details of it.
func packages(reader *reader, file string) []testCase {
	var cases []testCase
	ast.Inspect(reader.parse(file), func(node ast.Node) bool {
		row, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		fields := fieldsOf(row, &ast.StructType{Fields: &ast.FieldList{}})
		releases := append(variables(fields["existingObjs"]), variables(fields["existingK8sObjs"])...)
		results := append(variables(fields["expectedResponse"]), variables(fields["expectedDetail"])...)
		if len(releases) == 0 || len(releases) != len(results) {
			return true
		}
		for i, release := range releases {
			found, err := helmRelease(reader, release, results[i])
			if err != nil {
				notRead(release, err)
				continue
			}
			found.ID = fmt.Sprintf("%s/%s", text(fields["name"]), release)
			cases = append(cases, found)
		}
		return false
	})
	return cases
}

// The names of variables in lists and members of an expression.
func variables(expression ast.Expr) []string {
	switch expression := expression.(type) {
	case *ast.Ident:
		return []string{expression.Name}
	case *ast.UnaryExpr:
		return variables(expression.X)
	case *ast.KeyValueExpr:
		return variables(expression.Value)
	case *ast.CompositeLit:
		var all []string
		for _, element := range expression.Elts {
			all = append(all, variables(element)...)
		}
		return all
	}
	return nil
}

// The HelmRelease of a variable, with the reason that the other variable expects.
func helmRelease(reader *reader, release, result string) (testCase, error) {
	object := map[string]any{"apiVersion": "helm.toolkit.fluxcd.io/v2beta2", "kind": "HelmRelease"}
	for field, member := range map[string]string{"releaseMeta": "metadata", "releaseStatus": "status"} {
		value, err := fieldOf(reader, release, field)
		if err != nil {
			return testCase{}, err
		}
		object[member] = printed(value)
	}
	if suspended, err := fieldOf(reader, release, "releaseSuspend"); err == nil {
		object["spec"] = map[string]any{"suspend": suspended}
	}
	status, err := fieldOf(reader, result, "Status")
	members, _ := status.(map[string]any)
	return testCase{Object: object, Word: fmt.Sprint(members["reason"])}, err
}

// The value of one field of a variable. Its other fields may use functions that are not read.
func fieldOf(reader *reader, variable, field string) (any, error) {
	expression := reader.constants[variable]
	if pointer, ok := expression.(*ast.UnaryExpr); ok {
		expression = pointer.X
	}
	value, ok := fieldsOf(expression, &ast.StructType{Fields: &ast.FieldList{}})[field]
	if !ok {
		return nil, fmt.Errorf("%s has no %s", variable, field)
	}
	return reader.value(value, nil)
}

// Reads assertions about phases: `assert.True(t, Phase.Method())`.
func assertedPhases(function, method, apiVersion, kind, yes, no string) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		var cases []testCase
		for _, test := range functionsNamed(reader, file, function) {
			ast.Inspect(test, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok || len(call.Args) != 2 || typeName(call.Fun) != "True" && typeName(call.Fun) != "False" {
					return true
				}
				of, ok := call.Args[1].(*ast.CallExpr)
				if !ok || typeName(of.Fun) != method {
					return true
				}
				phase, err := reader.value(of.Fun.(*ast.SelectorExpr).X, nil)
				if err != nil {
					notRead(function, err)
					return false
				}
				object := map[string]any{"apiVersion": apiVersion, "kind": kind, "status": map[string]any{"phase": phase}}
				word := map[bool]string{true: yes, false: no}[typeName(call.Fun) == "True"]
				cases = append(cases, testCase{ID: fmt.Sprintf("%s/%v", function, phase), Object: object, Word: word})
				return false
			})
		}
		return cases
	}
}
