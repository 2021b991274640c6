// Karmada's own client for interpreter webhooks, and its own Lua, asked in turn about the same objects.
//
// Reads questions as JSON lines from stdin and answers each with one line: what a call takes as Karmada would see it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/webhook"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/webhook/request"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/thirdparty"
	"github.com/karmada-io/karmada/pkg/util/fedinformer/genericmanager"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubernetes "k8s.io/apimachinery/pkg/runtime"
	dynamic "k8s.io/client-go/dynamic/fake"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const namespace = "karmada-system"

// A question names files with the bodies of calls, and the Service of who is to answer; without one, it is Lua.
type question struct {
	Bodies    []string `json:"bodies"`
	Service   string   `json:"service"`
	Port      int32    `json:"port"`
	Path      string   `json:"path"`
	Authority []byte   `json:"authority"`
}

type answer struct {
	Milliseconds float64 `json:"milliseconds"` // that pass, the median
	Processor    float64 `json:"processor"`    // microseconds of this program's processor time, garbage collector included
	Failed       int     `json:"failed"`
}

// An interpreter gets a call and fails when there is no answer.
type interpreter func(*request.Attributes) error

func main() {
	quiet := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(quiet)
	quiet.Set("logtostderr", "false")
	quiet.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	ask := scripted(thirdparty.NewConfigurableInterpreter())
	isClient := false
	for in := json.NewDecoder(os.Stdin); ; {
		var q question
		if err := in.Decode(&q); err != nil {
			return
		}
		if q.Service != "" && !isClient {
			ask, isClient = called(q.client()), true
		}
		text, err := json.Marshal(measured(q.calls(), ask))
		check(err)
		fmt.Println(string(text))
	}
}

func (q *question) calls() []*request.Attributes {
	var calls []*request.Attributes
	for _, name := range q.Bodies {
		text, err := os.ReadFile(name)
		check(err)
		var body configv1alpha1.ResourceInterpreterContext
		check(json.Unmarshal(text, &body))
		call := &request.Attributes{
			Operation:        body.Request.Operation,
			Object:           decoded(body.Request.Object.Raw),
			AggregatedStatus: body.Request.AggregatedStatus,
		}
		if body.Request.ObservedObject != nil {
			call.ObservedObj = decoded(body.Request.ObservedObject.Raw)
		}
		if body.Request.DesiredReplicas != nil {
			call.ReplicasSet = *body.Request.DesiredReplicas
		}
		calls = append(calls, call)
	}
	return calls
}

func decoded(text []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	check(object.UnmarshalJSON(text))
	return object
}

// measured is what calls take: the median of the time that passes, the mean of processor time.
func measured(calls []*request.Attributes, ask interpreter) answer {
	runtime.GC() // what was asked before is not to be paid for here
	var times []time.Duration
	failed := 0
	spent := processorTime()
	for _, call := range calls {
		begun := time.Now()
		if err := ask(call); err != nil {
			failed++
			report(call, err)
		}
		times = append(times, time.Since(begun))
	}
	processor := float64((processorTime() - spent).Microseconds()) / float64(len(calls))
	slices.Sort(times)
	return answer{Milliseconds: times[len(times)/2].Seconds() * 1000, Processor: processor, Failed: failed}
}

var reported = map[string]bool{}

// report prints an error the first time that it happens: a script that fails does so in every round.
func report(call *request.Attributes, err error) {
	message, _, _ := strings.Cut(err.Error(), "\n")
	line := fmt.Sprintln(call.Operation, call.Object.GetKind(), message)
	if !reported[line] {
		reported[line] = true
		fmt.Fprint(os.Stderr, line)
	}
}

func scripted(lua *thirdparty.ConfigurableInterpreter) interpreter {
	return func(call *request.Attributes) (err error) {
		known := false
		switch call.Operation {
		case configv1alpha1.InterpreterOperationInterpretComponent:
			_, known, err = lua.GetComponents(call.Object)
		case configv1alpha1.InterpreterOperationInterpretReplica:
			_, _, known, err = lua.GetReplicas(call.Object)
		case configv1alpha1.InterpreterOperationInterpretHealth:
			_, known, err = lua.InterpretHealth(call.Object)
		case configv1alpha1.InterpreterOperationInterpretStatus:
			_, known, err = lua.ReflectStatus(call.Object)
		case configv1alpha1.InterpreterOperationInterpretDependency:
			_, known, err = lua.GetDependencies(call.Object)
		case configv1alpha1.InterpreterOperationReviseReplica:
			_, known, err = lua.ReviseReplica(call.Object, int64(call.ReplicasSet))
		case configv1alpha1.InterpreterOperationRetain:
			_, known, err = lua.Retain(call.Object, call.ObservedObj)
		case configv1alpha1.InterpreterOperationAggregateStatus:
			_, known, err = lua.AggregateStatus(call.Object, call.AggregatedStatus)
		}
		return answered(known, err)
	}
}

func called(client *webhook.CustomizedInterpreter) interpreter {
	return func(call *request.Attributes) (err error) {
		known, ctx := false, context.Background()
		switch call.Operation {
		case configv1alpha1.InterpreterOperationInterpretComponent:
			_, known, err = client.GetComponents(ctx, call)
		case configv1alpha1.InterpreterOperationInterpretReplica:
			_, _, known, err = client.GetReplicas(ctx, call)
		case configv1alpha1.InterpreterOperationInterpretHealth:
			_, known, err = client.InterpretHealth(ctx, call)
		case configv1alpha1.InterpreterOperationInterpretStatus:
			_, known, err = client.ReflectStatus(ctx, call)
		case configv1alpha1.InterpreterOperationInterpretDependency:
			_, known, err = client.GetDependencies(ctx, call)
		default:
			_, known, err = client.Patch(ctx, call)
		}
		return answered(known, err)
	}
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func answered(known bool, err error) error {
	if err == nil && !known {
		return fmt.Errorf("nobody answers for this kind")
	}
	return err
}

// client finds the webhook by its Service, as Karmada does; the Service leads to a port of this machine.
func (q *question) client() *webhook.CustomizedInterpreter {
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	check(services.Add(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: q.Service},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "127.0.0.1"},
	}))
	informers := genericmanager.NewSingleClusterInformerManager(
		context.Background(), dynamic.NewSimpleDynamicClient(kubernetes.NewScheme()), 0)
	client, err := webhook.NewCustomizedInterpreter(informers, listers.NewServiceLister(services))
	check(err)
	seconds := int32(3)
	client.LoadConfig([]*configv1alpha1.ResourceInterpreterWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: q.Service},
		Webhooks: []configv1alpha1.ResourceInterpreterWebhook{{
			Name: "benchmark.karta-interpreter.io",
			ClientConfig: admissionv1.WebhookClientConfig{
				Service:  &admissionv1.ServiceReference{Namespace: namespace, Name: q.Service, Port: &q.Port, Path: &q.Path},
				CABundle: q.Authority,
			},
			Rules: []configv1alpha1.RuleWithOperations{{
				Operations: []configv1alpha1.InterpreterOperation{configv1alpha1.InterpreterOperationAll},
				Rule:       configv1alpha1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Kinds: []string{"*"}},
			}},
			TimeoutSeconds:             &seconds,
			InterpreterContextVersions: []string{"v1alpha1"},
		}},
	}})
	return client
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
