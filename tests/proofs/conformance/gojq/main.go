// Answers what gojq does with expressions: reads questions as JSON lines from stdin, writes answers as JSON lines.
//
// It runs them as Karta's library does: every number of an input is a floating-point number, nothing is known of
// modules, environment and further input, the first error is the whole answer, and so is the thousandth result.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/itchyny/gojq"
)

const (
	tooManyResults = 1000
	patience       = 10 * time.Second
)

// A question has programs to run on an input, or texts to read and not to run.
type question struct {
	Input    json.RawMessage `json:"input"`
	Programs []string        `json:"programs"`
	Texts    []string        `json:"texts"`
}

// An outcome is what one program gives.
type outcome struct {
	Outputs []json.RawMessage `json:"outputs"`
	Error   string            `json:"error,omitempty"`
}

// A reading is what gojq says of a text: why it is none of its programs, else what the program has in it.
type reading struct {
	Parsing   string   `json:"parsing,omitempty"`
	Compiling string   `json:"compiling,omitempty"`
	Calls     []string `json:"calls"`
	Operators []string `json:"operators"`
	Descends  bool     `json:"descends"`
}

type answer struct {
	Outcomes []outcome `json:"outcomes,omitempty"`
	Readings []reading `json:"readings,omitempty"`
}

type program struct {
	code *gojq.Code
	err  error
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	programs := map[string]program{}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		text, err := json.Marshal(reply(line, programs))
		if err != nil {
			fail(err)
		}
		out.Write(append(text, '\n'))
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func reply(line []byte, programs map[string]program) answer {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		fail(err)
	}
	var a answer
	for _, text := range q.Texts {
		a.Readings = append(a.Readings, read(text))
	}
	if len(q.Programs) == 0 {
		return a
	}
	var input any
	if err := json.Unmarshal(q.Input, &input); err != nil {
		fail(err)
	}
	for _, text := range q.Programs {
		known, ok := programs[text]
		if !ok {
			known.code, known.err = compile(text)
			programs[text] = known
		}
		a.Outcomes = append(a.Outcomes, known.run(input))
	}
	return a
}

func compile(text string) (*gojq.Code, error) {
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(query)
}

func (p program) run(input any) outcome {
	if p.err != nil {
		return outcome{Error: p.err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found := outcome{}
	for results := p.code.RunWithContext(ctx, input); ; {
		value, more := results.Next()
		if !more {
			return found
		}
		if err, failed := value.(error); failed {
			if halt := (*gojq.HaltError)(nil); errors.As(err, &halt) && halt.Value() == nil {
				return found
			}
			return outcome{Error: err.Error()}
		}
		text, err := gojq.Marshal(value)
		if err != nil {
			return outcome{Error: err.Error()}
		}
		found.Outputs = append(found.Outputs, text)
		if len(found.Outputs) == tooManyResults {
			return outcome{Error: "too many results"}
		}
	}
}

func read(text string) (r reading) {
	query, err := gojq.Parse(text)
	if err != nil {
		r.Parsing = err.Error()
		return r
	}
	if _, err := gojq.Compile(query); err != nil {
		r.Compiling = err.Error()
	}
	r.visit(reflect.ValueOf(query))
	return r
}

// visit finds what is called, assigned and descended into, wherever in the syntax tree it stands.
func (r *reading) visit(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			r.visit(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			r.visit(value.Index(i))
		}
	case reflect.Struct:
		r.note(value.Interface())
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				r.visit(value.Field(i))
			}
		}
	}
}

var modifying = []gojq.Operator{
	gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub,
	gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt,
}

func (r *reading) note(part any) {
	switch part := part.(type) {
	case gojq.Func:
		r.Calls = append(r.Calls, part.Name)
	case gojq.Query:
		if slices.Contains(modifying, part.Op) {
			r.Operators = append(r.Operators, part.Op.String())
		}
	case gojq.Term:
		r.Descends = r.Descends || part.Type == gojq.TermTypeRecurse
	}
}
