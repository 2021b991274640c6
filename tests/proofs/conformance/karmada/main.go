// Answers what Karmada's own Lua VM would: reads questions as JSON lines from stdin, writes answers as JSON lines.
//
// Every run has a VM of its own, because the pool of Karmada lets globals leak from one script into the next.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/declarative/luavm"
	"github.com/karmada-io/karmada/pkg/util/interpreter/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"

	k8sjson "k8s.io/apimachinery/pkg/util/json"
)

// A question names an operation and has its arguments.
type question struct {
	Operation string                              `json:"operation"`
	Scripts   []string                            `json:"scripts"`
	Object    json.RawMessage                     `json:"object"`
	Observed  json.RawMessage                     `json:"observed"`
	Replicas  int64                               `json:"replicas"`
	Items     []workv1alpha2.AggregatedStatusItem `json:"items"`
	// Runs says how often to ask, 1 when absent; each different outcome is answered once.
	Runs int `json:"runs"`
	// Seconds of processor time to spend on measuring instead of answering.
	Seconds float64 `json:"seconds"`
}

type results map[string]any

type outcome struct {
	Results results `json:"results,omitempty"`
	Error   string  `json:"error,omitempty"`
}

type answer struct {
	Outcomes     []json.RawMessage `json:"outcomes,omitempty"`
	Microseconds float64           `json:"microseconds,omitempty"`
}

func main() {
	quiet := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(quiet)
	quiet.Set("logtostderr", "false")
	quiet.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	os.Stdout, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0) // what scripts print is no answer
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		text, err := json.Marshal(reply(line))
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

func reply(line []byte) answer {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		fail(err)
	}
	object, observed := decode(q.Object), decode(q.Observed)
	if q.Seconds > 0 {
		return answer{Microseconds: q.measure(object, observed)}
	}
	seen := sets.New[string]()
	for range max(q.Runs, 1) {
		found, err := json.Marshal(q.patient(object, observed))
		if err != nil {
			fail(err)
		}
		seen.Insert(string(found))
	}
	var a answer
	for _, found := range sets.List(seen) {
		a.Outcomes = append(a.Outcomes, json.RawMessage(found))
	}
	return a
}

// A script has one second, which on a busy machine may be too short for any.
const tries = 3

// patient asks again what took too long.
func (q *question) patient(object, observed *unstructured.Unstructured) outcome {
	found := q.outcome(luavm.New(false, 1), object, observed)
	for try := 0; try < tries && strings.Contains(found.Error, context.DeadlineExceeded.Error()); try++ {
		found = q.outcome(luavm.New(false, 1), object, observed)
	}
	return found
}

// decode reads an object as Karmada's clients do, but does not ask it for a kind.
func decode(text json.RawMessage) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := k8sjson.Unmarshal(text, &object.Object); len(text) > 0 && err != nil {
		fail(err)
	}
	return object
}

func (q *question) outcome(vm *luavm.VM, object, observed *unstructured.Unstructured) (o outcome) {
	defer func() {
		if reason := recover(); reason != nil {
			o = outcome{Error: fmt.Sprintf("panic: %v", reason)}
		}
	}()
	found, err := q.run(vm, object, observed)
	if err != nil {
		return outcome{Error: err.Error()}
	}
	return outcome{Results: found}
}

func (q *question) run(vm *luavm.VM, object, observed *unstructured.Unstructured) (results, error) {
	if q.Operation == "InterpretDependency" {
		found, err := dependencies(vm, q.Scripts, object)
		return results{"dependencies": found}, err
	}
	script := q.Scripts[0]
	switch q.Operation {
	case "InterpretReplica":
		replica, requires, err := vm.GetReplicas(object, script)
		return results{"replica": replica, "requires": requires}, err
	case "InterpretComponent":
		found, err := vm.GetComponents(object, script)
		return results{"components": found}, err
	case "ReviseReplica":
		found, err := vm.ReviseReplica(object, q.Replicas, script)
		return results{"revised": found}, err
	case "Retain":
		found, err := vm.Retain(object, observed, script)
		return results{"retained": found}, err
	case "AggregateStatus":
		found, err := vm.AggregateStatus(object, q.Items, script)
		return results{"aggregatedStatus": found}, err
	case "InterpretStatus":
		found, err := vm.ReflectStatus(object, script)
		return results{"status": found}, err
	case "InterpretHealth":
		found, err := vm.InterpretHealth(object, script)
		return results{"healthy": found}, err
	}
	return nil, fmt.Errorf("operation %q is unknown", q.Operation)
}

// dependencies is ConfigurableInterpreter.GetDependencies of pkg/resourceinterpreter/customized/declarative.
func dependencies(vm *luavm.VM, scripts []string, object *unstructured.Unstructured) ([]configv1alpha1.DependentObjectReference, error) {
	refs := sets.New[configv1alpha1.DependentObjectReference]()
	for _, script := range scripts {
		found, err := vm.GetDependencies(object, script)
		if err != nil {
			return nil, err
		}
		if err := validation.VerifyDependencies(found); err != nil {
			return nil, err
		}
		refs.Insert(found...)
	}
	all := refs.UnsortedList()
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.APIVersion != b.APIVersion {
			return a.APIVersion < b.APIVersion
		}
		if a.Kind != b.Kind {
			return a.Kind < b.Kind
		}
		if a.Namespace != b.Namespace {
			return a.Namespace < b.Namespace
		}
		return a.Name < b.Name
	})
	return all, nil
}
