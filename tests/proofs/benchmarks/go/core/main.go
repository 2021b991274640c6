// Measures what a definition's expressions cost in Go: encoding/json and gojq.
//
// Reads {"object": ..., "expressions": [...], "seconds": ...} from stdin and prints microseconds of processor time per
// object: with expressions compiled once, and parsed and compiled for each object, as Karta's library has it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/itchyny/gojq"
)

type question struct {
	Object      json.RawMessage `json:"object"`
	Expressions []string        `json:"expressions"`
	Seconds     float64         `json:"seconds"`
}

func main() {
	for in := json.NewDecoder(os.Stdin); ; {
		var q question
		if err := in.Decode(&q); err != nil {
			return
		}
		codes := make([]*gojq.Code, len(q.Expressions))
		for i, text := range q.Expressions {
			codes[i] = compile(text)
		}
		once := q.microseconds(func(i int, object any) gojq.Iter { return codes[i].Run(object) })
		each := q.microseconds(q.asLibrary)
		fmt.Printf("{\"once\": %f, \"each\": %f}\n", once, each)
	}
}

// asLibrary evaluates as Karta's library does (pkg/jq/execution/runner.go): nothing that was compiled is kept.
func (q *question) asLibrary(i int, object any) gojq.Iter {
	within, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	results := compile(q.Expressions[i]).RunWithContext(within, object)
	var found []any
	for {
		result, ok := results.Next()
		if !ok {
			return gojq.NewIter(found...)
		}
		found = append(found, result)
	}
}

// microseconds is the mean for one object, with a way to evaluate the i-th expression.
func (q *question) microseconds(run func(int, any) gojq.Iter) float64 {
	calls, begun, spent := 0, time.Now(), processorTime()
	for calls == 0 || time.Since(begun).Seconds() < q.Seconds {
		q.evaluate(run)
		calls++
	}
	return float64((processorTime() - spent).Microseconds()) / float64(calls)
}

func (q *question) evaluate(run func(int, any) gojq.Iter) {
	var object any
	check(json.Unmarshal(q.Object, &object))
	for i := range q.Expressions {
		for results := run(i, object); ; {
			result, ok := results.Next()
			if !ok {
				break
			}
			if err, failed := result.(error); failed {
				check(fmt.Errorf("%s: %w", q.Expressions[i], err))
			}
		}
	}
}

func compile(text string) *gojq.Code {
	query, err := gojq.Parse(text)
	check(err)
	code, err := gojq.Compile(query)
	check(err)
	return code
}

// processorTime is that of the whole process, the garbage collector included.
func processorTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
