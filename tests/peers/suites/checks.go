package main

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Reads tests that build an object, call a function with it, and compare the result:
// `phase, message := function(object)`, then `assert.Equal(t, expected, phase)`.
func checks(function, apiVersion, kind string) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		var cases []testCase
		for _, declaration := range reader.parse(file).Decls {
			test, ok := declaration.(*ast.FuncDecl)
			if !ok || test.Recv != nil || !strings.HasPrefix(test.Name.Name, "Test") {
				continue
			}
			found := checked(reader, function, test.Body.List, scope{})
			for number, found := range found {
				object, ok := found.Object.(map[string]any)
				if !ok {
					continue
				}
				object["apiVersion"], object["kind"] = apiVersion, kind
				found.ID = fmt.Sprintf("%s/%d", test.Name.Name, number+1)
				cases = append(cases, found)
			}
		}
		return cases
	}
}

func checked(reader *reader, function string, list []ast.Stmt, names scope) []testCase {
	var cases []testCase
	var object any
	var result string
	for _, statement := range list {
		switch statement := statement.(type) {
		case *ast.BlockStmt:
			cases = append(cases, checked(reader, function, statement.List, scope{})...)
			continue
		case *ast.AssignStmt:
			call, ok := statement.Rhs[0].(*ast.CallExpr)
			if ok && typeName(call.Fun) == function && len(call.Args) == 1 {
				value, err := reader.value(call.Args[0], names)
				if err == nil {
					object, result = printed(value), typeName(statement.Lhs[0])
				}
				continue
			}
		case *ast.ExprStmt:
			call, ok := statement.X.(*ast.CallExpr)
			if ok && typeName(call.Fun) == "Equal" && len(call.Args) >= 3 && object != nil && typeName(call.Args[2]) == result {
				word, err := reader.value(call.Args[1], names)
				if err == nil {
					cases = append(cases, testCase{Object: object, Word: fmt.Sprint(word)})
				}
				object = nil
				continue
			}
		}
		if _, _, err := reader.statement(statement, names); err != nil && strings.Contains(fmt.Sprint(err), "not read") {
			break
		}
	}
	return cases
}

// The rows of the trees that `kubectl argo rollouts get` prints: `⟳ name  Rollout  ✖ Degraded  7d`.
var treeRow = regexp.MustCompile(`(?m)(\S+)\s+(Rollout|Experiment|AnalysisRun)\s+\S (\w+)\s+7d`)

// The function of the test's objects, and the folder that it reads.
var treeFolder = regexp.MustCompile(`testdata\.(New\w+)\(\)`)

// Reads the tests of `kubectl argo rollouts get`: objects in YAML, and the tree that the command prints for them.
func trees(folder string) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		source, err := os.ReadFile(filepath.Join(reader.root, file))
		objects, other := os.ReadFile(filepath.Join(reader.root, folder, "testdata.go"))
		if err != nil || other != nil {
			notRead(file, err)
			return nil
		}
		var cases []testCase
		for _, test := range strings.Split(string(source), "\nfunc ")[1:] {
			from := treeFolder.FindStringSubmatch(test)
			if from == nil {
				continue
			}
			path := regexp.MustCompile(from[1] + `\(\) \*RolloutObjects \{\s+return discoverObjects\(testDir \+ "/([\w-]+)"`)
			found := path.FindSubmatch(objects)
			if found == nil {
				continue
			}
			for _, row := range treeRow.FindAllStringSubmatch(test, -1) {
				if object := objectFile(reader.root, filepath.Join(folder, string(found[1])), row[2], row[1]); object != "" {
					id := test[:strings.Index(test, "(")] + "/" + row[2] + "/" + row[1]
					cases = append(cases, testCase{ID: id, File: object, Word: row[3]})
				}
			}
		}
		return cases
	}
}

// The file of a folder with the object of a kind and a name.
func objectFile(root, folder, kind, name string) string {
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		notRead(folder, err)
	}
	of := regexp.MustCompile(`(?m)^kind: ` + kind + `$`)
	named := regexp.MustCompile(`(?m)^  name: ` + regexp.QuoteMeta(name) + `$`)
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		content, err := os.ReadFile(filepath.Join(root, path))
		if err == nil && of.Match(content) && named.Match(content) {
			return path
		}
	}
	return ""
}

var (
	recordStatus = regexp.MustCompile(`(?m)^status: (\w+)$`)
	recordStage  = regexp.MustCompile(`(?m)^  (?:-|  ) ?(?:[\w]+: .*\n    )*?name: ([\w-]+)\n(?:    \w+: .*\n)*?    status: (\w+)$`)
	objectName   = regexp.MustCompile(`(?m)^  name: ([\w-]+)$`)
)

// Reads Lighthouse's records of activities: a folder for each case, with the runs in YAML and the record that Lighthouse
// makes of them. The record has the status of the run of the pipeline, and of each run of a task as a stage.
func records(reader *reader, folder string) []testCase {
	entries, err := os.ReadDir(filepath.Join(reader.root, folder))
	if err != nil {
		notRead(folder, err)
	}
	var cases []testCase
	for _, entry := range entries {
		record, err := os.ReadFile(filepath.Join(reader.root, folder, entry.Name(), "record.yaml"))
		status := recordStatus.FindSubmatch(record)
		if err != nil || status == nil {
			continue
		}
		run := filepath.Join(folder, entry.Name(), "pr.yaml")
		cases = append(cases, testCase{ID: entry.Name() + "/pr", File: run, Word: string(status[1])})
		for _, file := range []string{"tr", "tr2", "cr"} {
			path := filepath.Join(folder, entry.Name(), file+".yaml")
			object, err := os.ReadFile(filepath.Join(reader.root, path))
			name := objectName.FindSubmatch(object)
			if err != nil || name == nil {
				continue
			}
			for _, stage := range recordStage.FindAllSubmatch(record, -1) {
				if strings.Contains(string(name[1]), "-"+string(stage[1])+"-") {
					cases = append(cases, testCase{ID: entry.Name() + "/" + file, File: path, Word: string(stage[2])})
				}
			}
		}
	}
	return cases
}
