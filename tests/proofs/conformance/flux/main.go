// Answers what Flux makes of an object by the expressions of a health check: reads {"checks": ..., "object": ...} as
// JSON lines from stdin, writes {"status": ...} or {"error": ...} as JSON lines.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	Checks kustomize.HealthCheckExpressions `json:"checks"`
	Object json.RawMessage                  `json:"object"`
}

type answer struct {
	Status string `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

var evaluators = map[kustomize.HealthCheckExpressions]*cel.StatusEvaluator{}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		text, err := json.Marshal(judge(line))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Write(append(text, '\n'))
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func judge(line []byte) answer {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(asked.Object); err != nil {
		return answer{Error: err.Error()}
	}
	evaluator, ok := evaluators[asked.Checks]
	if !ok {
		var err error
		if evaluator, err = cel.NewStatusEvaluator(&asked.Checks); err != nil {
			return answer{Error: err.Error()}
		}
		evaluators[asked.Checks] = evaluator
	}
	result, err := evaluator.Evaluate(context.Background(), object)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Status: string(result.Status)}
}
