package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A function of a test in TypeScript: it gets an object of a Kind and returns a word.
type verdictOf struct {
	function   string
	apiVersion string
	kind       string
	// The words for `true` and `false`. Other results are texts.
	yes, no string
}

// Reads tests in TypeScript: `expect(function(object)).toBe(word)`, where the object is a variable with a literal, or a member
// of such a variable. `data` are other files with variables.
func scripts(data []string, functions ...verdictOf) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		script := &script{names: map[string]any{}}
		for _, other := range data {
			script.declare(source(reader, other), len(source(reader, other)))
		}
		text := source(reader, file)
		var cases []testCase
		for _, of := range functions {
			for _, found := range of.calls(text) {
				script.declare(text, found.at)
				object, ok := script.member(found.argument).(map[string]any)
				if !ok {
					notRead(found.argument, "no object")
					continue
				}
				object, _ = copied(object).(map[string]any)
				object["apiVersion"], object["kind"] = of.apiVersion, of.kind
				id := fmt.Sprintf("%s/%s/%d", of.function, found.argument, len(cases)+1)
				cases = append(cases, testCase{ID: id, Object: object, Word: found.word})
			}
		}
		return cases
	}
}

func source(reader *reader, file string) string {
	content, err := os.ReadFile(filepath.Join(reader.root, file))
	if err != nil {
		notRead(file, err)
	}
	return string(content)
}

// A call with the expected word.
type expectation struct {
	at       int
	argument string
	word     string
}

const (
	argumentOf = `\(\s*([\w.\[\]]+)\s*,?\s*\)`
	resultOf   = `\s*\.\s*(?:toBe|toEqual)\(\s*('[^']*'|true|false)`
)

// The calls in order: as the argument of `expect`, or as the value of a variable that the next statement expects.
func (of verdictOf) calls(text string) []expectation {
	direct := regexp.MustCompile(`expect\(\s*` + of.function + argumentOf + `\s*,?\s*\)` + resultOf)
	stored := regexp.MustCompile(`= ` + of.function + argumentOf + `;\s*expect\(\w+\)` + resultOf)
	var all []expectation
	for _, pattern := range []*regexp.Regexp{direct, stored} {
		for _, found := range pattern.FindAllStringSubmatchIndex(text, -1) {
			word := strings.Trim(text[found[4]:found[5]], "'")
			switch word {
			case "true":
				word = of.yes
			case "false":
				word = of.no
			}
			all = append(all, expectation{found[0], text[found[2]:found[3]], word})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].at < all[j].at })
	return all
}

// Literals of JavaScript.
type script struct {
	text  string
	at    int
	names map[string]any
}

var declaration = regexp.MustCompile(`(?:const|let) (\w+)(?:: [^=;]+)? =\s*[{\[]`)

// Reads the variables with a literal that begin before a place. The last one of a name counts.
func (script *script) declare(text string, until int) {
	script.text = text
	for _, found := range declaration.FindAllStringSubmatchIndex(text, -1) {
		if found[0] >= until {
			return
		}
		script.at = found[1] - 1
		if value, err := script.value(); err == nil {
			script.names[text[found[2]:found[3]]] = value
		}
	}
}

var gap = regexp.MustCompile(`^(?:\s+|//[^\n]*|/\*(?s:.*?)\*/)+`)

func (script *script) rest() string {
	script.at += len(gap.FindString(script.text[script.at:]))
	return script.text[script.at:]
}

// Whether the next sign is this one, which is then read.
func (script *script) next(sign string) bool {
	if !strings.HasPrefix(script.rest(), sign) {
		return false
	}
	script.at += len(sign)
	return true
}

var (
	number  = regexp.MustCompile(`^-?\d+`)
	place   = regexp.MustCompile(`^[A-Za-z_]\w*(?:\.\w+|\[[\w.]+\])*`)
	typed   = regexp.MustCompile(`^\s*as [\w ]+`)
	keyName = regexp.MustCompile(`^[\w$]+`)
)

// The value of a literal, or of a variable. What is not known has no value.
func (script *script) value() (any, error) {
	value, err := script.bare()
	script.at += len(typed.FindString(script.text[script.at:]))
	return value, err
}

func (script *script) bare() (any, error) {
	rest := script.rest()
	if rest == "" {
		return nil, fmt.Errorf("the text ends in a literal")
	}
	switch rest[0] {
	case '{':
		return script.object()
	case '[':
		return script.list()
	case '\'', '"', '`':
		return script.quoted()
	}
	if digits := number.FindString(rest); digits != "" {
		script.at += len(digits)
		return strconv.ParseInt(digits, 10, 64)
	}
	name := place.FindString(rest)
	script.at += len(name)
	if name == "" || strings.HasPrefix(script.text[script.at:], "(") {
		return nil, fmt.Errorf("no literal: %.20q", rest)
	}
	switch name {
	case "true", "false":
		return name == "true", nil
	case "null", "undefined":
		return nil, nil
	}
	return script.member(name), nil
}

func (script *script) quoted() (any, error) {
	quote := script.text[script.at]
	var text strings.Builder
	for script.at++; script.at < len(script.text); script.at++ {
		switch sign := script.text[script.at]; {
		case sign == quote:
			script.at++
			return text.String(), nil
		case sign == '\\' && script.at+1 < len(script.text):
			script.at++
			if escaped := script.text[script.at]; escaped == 'n' {
				text.WriteByte('\n')
			} else {
				text.WriteByte(escaped)
			}
		default:
			text.WriteByte(sign)
		}
	}
	return nil, fmt.Errorf("the text has no end")
}

func (script *script) list() (any, error) {
	script.at++
	list := []any{}
	for !script.next("]") {
		value, err := script.value()
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		script.next(",")
	}
	return list, nil
}

func (script *script) object() (any, error) {
	script.at++
	members := map[string]any{}
	for !script.next("}") {
		if err := script.pair(members); err != nil {
			return nil, err
		}
		script.next(",")
	}
	return members, nil
}

// `name: value`, `'name': value`, `[name]: value`, `...object`, or the name of a variable.
func (script *script) pair(members map[string]any) error {
	if script.next("...") {
		value, err := script.value()
		others, _ := value.(map[string]any)
		maps.Copy(members, others)
		return err
	}
	key, err := script.key()
	if err != nil {
		return err
	}
	value := script.names[key]
	if script.next(":") {
		value, err = script.value()
	}
	// An API server removes a member without a value, and `undefined` is none.
	if value != nil {
		members[key] = value
	}
	return err
}

func (script *script) key() (string, error) {
	rest := script.rest()
	if script.next("[") {
		name := place.FindString(script.rest())
		script.at += len(name)
		if name == "" || !script.next("]") {
			return "", fmt.Errorf("no name: %.20q", rest)
		}
		return name, nil
	}
	if strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`) {
		value, err := script.quoted()
		return fmt.Sprint(value), err
	}
	name := keyName.FindString(rest)
	script.at += len(name)
	if name == "" {
		return "", fmt.Errorf("no name: %.20q", rest)
	}
	return name, nil
}

// The value of a variable or of its member: `name.member` or `name[Word.member]`.
func (script *script) member(expression string) any {
	name, within, found := strings.Cut(expression, "[")
	if found {
		within = strings.TrimSuffix(within, "]")
		holder := script.member(name)
		list, isList := holder.([]any)
		if number, err := strconv.Atoi(within); err == nil && isList && number < len(list) {
			return list[number]
		}
		members, _ := holder.(map[string]any)
		return members[within]
	}
	names := strings.Split(expression, ".")
	value := script.names[names[0]]
	for _, name := range names[1:] {
		members, _ := value.(map[string]any)
		value = members[name]
	}
	return value
}
