// Prints the cases of other projects' test suites, one JSON object a line: an object, or the file that holds it, with the
// word that the suite expects. It reads the source of the tests and runs none of it.
//
// The only argument is a folder with a checkout of each repository, named owner+name. A suite without checkout is left out.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A case of a suite. `File` is a path in the folder, for objects that are not part of a test's source.
// `YAML` is an object in YAML.
type testCase struct {
	Suite  string `json:"suite"`
	ID     string `json:"id"`
	Object any    `json:"object,omitempty"`
	File   string `json:"file,omitempty"`
	YAML   string `json:"yaml,omitempty"`
	Word   string `json:"word"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: suites FOLDER (a checkout of each repository in it, named owner+name)")
		os.Exit(2)
	}
	folder := os.Args[1]
	out := json.NewEncoder(os.Stdout)
	for _, suite := range append(suites, fourth...) {
		if _, err := os.Stat(filepath.Join(folder, suite.repository)); err != nil {
			continue
		}
		for _, found := range suite.cases(folder) {
			if err := out.Encode(found); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
}

// The cases of a suite. A case that cannot be read is named on standard error.
func (suite suite) cases(folder string) []testCase {
	reader := newReader(filepath.Join(folder, suite.repository), suite.constants)
	var all []testCase
	for _, file := range suite.files {
		for _, found := range suite.read(reader, file) {
			found.Suite = suite.repository
			found.ID = file + "/" + found.ID
			if found.File != "" {
				found.File = filepath.Join(suite.repository, found.File)
			}
			all = append(all, found)
		}
	}
	return all
}

func notRead(where string, why any) {
	fmt.Fprintf(os.Stderr, "not read: %s: %v\n", where, why)
}
