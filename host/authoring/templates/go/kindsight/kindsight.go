// Package kindsight connects a rule in Go with the host of interpreters.
//
// The command `kindsight plugin build` writes description.json and fixtures.json beside this file, compiles the module,
// and makes a component of it. The host has no clock, no files and no network: `time.Now` is the epoch, and `os` fails.
package kindsight

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"unsafe"
)

// Verdict is the meaning of one object's status.
type Verdict struct {
	// State is the name of a state in description.yaml.
	State string
	// Reason is one CamelCase word for programs.
	Reason string
	// Message is a text for users.
	Message string
	// SinceMs is the time since which the object is in this state, in Unix milliseconds. Nil if it is unknown.
	SinceMs *int64
	// RecheckAtMs is the time at which the verdict may change although the object does not, in Unix milliseconds.
	// Only for Kinds with `uses-now`.
	RecheckAtMs *int64
}

// Coverage says whether all related objects are in a set.
type Coverage uint8

// Complete means that all objects are in the set; Partial, that there may be more; Unknown, that no source reports them.
const (
	Complete Coverage = iota
	Partial
	Unknown
)

// RelatedSet has the objects that one rule of related objects found.
type RelatedSet struct {
	// Objects are JSON objects.
	Objects []json.RawMessage
	// Total is the number of objects that were found. It can exceed the number of Objects.
	Total uint32
	// Coverage says whether there may be more.
	Coverage Coverage
}

// Input is the input of one call.
type Input struct {
	// Object is the object as JSON, reduced to the fields of description.yaml.
	Object json.RawMessage
	// Related has one set for each rule of related objects.
	Related []RelatedSet
	// NowMs is the time in Unix milliseconds. Nil unless the Kind has `uses-now`.
	NowMs *int64
	// Settings are the operator's settings as a JSON object.
	Settings json.RawMessage
}

// Failure is an error that is no verdict. Other errors of a rule become the failure `internal`.
type Failure struct {
	kind    byte
	message string
}

func (failure *Failure) Error() string { return failure.message }

// Unsupported declines the object: the next less specific interpreter judges it.
func Unsupported(message string) error { return &Failure{0, message} }

// InvalidObject says that the object is not valid for its Kind.
func InvalidObject(message string) error { return &Failure{1, message} }

// InvalidSettings names the setting that cannot be used, and its valid values.
func InvalidSettings(message string) error { return &Failure{2, message} }

const internal = 3

var rule func(Input) (Verdict, error)

// Export sets the rule. Call it from an `init` function.
func Export(judge func(Input) (Verdict, error)) { rule = judge }

//go:embed description.json
var description string

//go:embed fixtures.json
var fixtures string

// Memory that the host wrote or reads. It stays here so that the garbage collector keeps it.
var (
	given    [][]byte
	returned struct {
		text   string
		pair   [2]uint32
		result result
		texts  [3]string
	}
)

// The layout of `result<verdict, failure>` in the canonical ABI.
type result struct {
	isFailure byte
	_         [7]byte
	verdict   verdict
}

type verdict struct {
	state, reason, message [2]uint32
	since, recheck         optional
}

type optional struct {
	isSome byte
	_      [7]byte
	value  int64
}

type failure struct {
	kind byte
	_    [3]byte
	text [2]uint32
}

type relatedSet struct {
	objects  uint32
	count    uint32
	total    uint32
	coverage Coverage
	_        [3]byte
}

//go:wasmexport cabi_realloc
func realloc(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	// Words of 8 bytes have the greatest alignment that the ABI asks for.
	words := make([]uint64, (size+7)/8+1)
	block := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	if old != nil {
		copy(block, unsafe.Slice((*byte)(old), oldSize))
	}
	given = append(given, block)
	return unsafe.Pointer(&words[0])
}

//go:wasmexport kindsight:interpreter/description@1.0.0#describe
func describe() unsafe.Pointer { return text(description) }

//go:wasmexport kindsight:interpreter/description@1.0.0#fixtures
func listFixtures() unsafe.Pointer { return text(fixtures) }

//go:wasmexport kindsight:interpreter/text@1.0.0#judge
func judge(object unsafe.Pointer, objectLen uint32, related unsafe.Pointer, relatedLen uint32, hasNow uint32, now int64, settings unsafe.Pointer, settingsLen uint32) unsafe.Pointer {
	input := Input{Object: bytes(object, objectLen), Settings: bytes(settings, settingsLen)}
	if hasNow != 0 {
		input.NowMs = &now
	}
	for _, set := range unsafe.Slice((*relatedSet)(related), relatedLen) {
		input.Related = append(input.Related, set.read())
	}
	verdict, err := guarded(input)
	given = nil
	returned.result = result{}
	if err != nil {
		return fail(err)
	}
	return succeed(verdict)
}

// Calls the rule. A panic becomes an error.
func guarded(input Input) (verdict Verdict, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return rule(input)
}

func succeed(given Verdict) unsafe.Pointer {
	texts := &returned.texts
	*texts = [3]string{given.State, given.Reason, given.Message}
	returned.result.verdict = verdict{
		state:   place(texts[0]),
		reason:  place(texts[1]),
		message: place(texts[2]),
		since:   option(given.SinceMs),
		recheck: option(given.RecheckAtMs),
	}
	return unsafe.Pointer(&returned.result)
}

func fail(err error) unsafe.Pointer {
	returned.result.isFailure = 1
	told := (*failure)(unsafe.Pointer(&returned.result.verdict))
	told.kind = internal
	if known, ok := err.(*Failure); ok {
		told.kind = known.kind
	}
	returned.texts[0] = err.Error()
	told.text = place(returned.texts[0])
	return unsafe.Pointer(&returned.result)
}

func text(of string) unsafe.Pointer {
	returned.text = of
	returned.pair = place(returned.text)
	return unsafe.Pointer(&returned.pair)
}

func (set relatedSet) read() RelatedSet {
	texts := unsafe.Slice((*[2]uint32)(pointer(set.objects)), set.count)
	objects := make([]json.RawMessage, 0, len(texts))
	for _, text := range texts {
		objects = append(objects, bytes(pointer(text[0]), text[1]))
	}
	return RelatedSet{Objects: objects, Total: set.total, Coverage: set.coverage}
}

func option(value *int64) optional {
	if value == nil {
		return optional{}
	}
	return optional{isSome: 1, value: *value}
}

func bytes(at unsafe.Pointer, length uint32) []byte { return unsafe.Slice((*byte)(at), length) }

func place(text string) [2]uint32 {
	return [2]uint32{uint32(uintptr(unsafe.Pointer(unsafe.StringData(text)))), uint32(len(text))}
}

// An address that the host wrote, in memory that `given` keeps.
func pointer(address uint32) unsafe.Pointer {
	at := uintptr(address)
	return *(*unsafe.Pointer)(unsafe.Pointer(&at))
}
