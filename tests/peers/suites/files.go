package main

import (
	"go/ast"
	"path/filepath"
	"strings"
)

// Reads is-healthy's calls of `assertAppHealthMsg(t, file, status, health, ready, …)`.
// Calls that replace texts of the file by times near now are left out: their verdict depends on the time.
func assertions(reader *reader, file string) []testCase {
	var cases []testCase
	folder := filepath.Dir(file)
	for _, declaration := range reader.parse(file).Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		bases := map[string]string{}
		ast.Inspect(function, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.AssignStmt:
				bases[typeName(node.Lhs[0])] = text(node.Rhs[0])
			case *ast.CallExpr:
				if typeName(node.Fun) == "assertAppHealthMsg" && len(node.Args) >= 4 {
					path := path(node.Args[1], bases)
					cases = append(cases, testCase{
						ID:   function.Name.Name + "/" + path,
						File: filepath.Join(folder, path),
						Word: strings.ToLower(strings.TrimPrefix(typeName(node.Args[3]), "Health")),
					})
				}
			}
			return true
		})
	}
	return cases
}

// A path: a text, a variable, or their sum.
func path(expression ast.Expr, bases map[string]string) string {
	switch expression := expression.(type) {
	case *ast.BinaryExpr:
		return path(expression.X, bases) + path(expression.Y, bases)
	case *ast.Ident:
		return bases[expression.Name]
	}
	return text(expression)
}
