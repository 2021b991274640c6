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

const (
	namespace = "karmada-system"
	warmUp    = 5
)

// A question names the operation, the object and the Service of who is to answer; without one, it is Lua.
type question struct {
	Operation configv1alpha1.InterpreterOperation `json:"operation"`
	Object    json.RawMessage                     `json:"object"`
	Service   string                              `json:"service"`
	Port      int32                               `json:"port"`
	Path      string                              `json:"path"`
	Authority []byte                              `json:"authority"`
	Seconds   float64                             `json:"seconds"`
}

type answer struct {
	Milliseconds float64 `json:"milliseconds"` // that pass
	Processor    float64 `json:"processor"`    // microseconds of this program's processor time, garbage collector included
	Error        string  `json:"error,omitempty"`
}

// An interpreter is asked about an object and fails when there is no answer.
type interpreter func(*unstructured.Unstructured) error

func main() {
	quiet := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(quiet)
	quiet.Set("logtostderr", "false")
	quiet.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	lua := thirdparty.NewConfigurableInterpreter()
	clients := map[string]*webhook.CustomizedInterpreter{}
	for in := json.NewDecoder(os.Stdin); ; {
		var q question
		if err := in.Decode(&q); err != nil {
			return
		}
		ask := q.scripted(lua)
		if q.Service != "" {
			key := fmt.Sprintf("%s:%d", q.Service, q.Port)
			if clients[key] == nil {
				clients[key] = q.client()
			}
			ask = q.called(clients[key])
		}
		text, err := json.Marshal(q.measured(ask))
		check(err)
		fmt.Println(string(text))
	}
}

// measured is what calls take: the median of the time that passes, the mean of processor time.
func (q *question) measured(ask interpreter) answer {
	object := &unstructured.Unstructured{}
	check(object.UnmarshalJSON(q.Object))
	runtime.GC() // what was asked before is not to be paid for here
	for range warmUp {
		if err := ask(object); err != nil {
			return answer{Error: err.Error()}
		}
	}
	var calls []time.Duration
	begun, spent := time.Now(), processorTime()
	for len(calls) == 0 || time.Since(begun).Seconds() < q.Seconds {
		asked := time.Now()
		if err := ask(object); err != nil {
			return answer{Error: err.Error()}
		}
		calls = append(calls, time.Since(asked))
	}
	slices.Sort(calls)
	return answer{
		Milliseconds: calls[len(calls)/2].Seconds() * 1000,
		Processor:    float64((processorTime() - spent).Microseconds()) / float64(len(calls)),
	}
}

func (q *question) scripted(lua *thirdparty.ConfigurableInterpreter) interpreter {
	return func(object *unstructured.Unstructured) error {
		var err error
		var known bool
		switch q.Operation {
		case configv1alpha1.InterpreterOperationInterpretComponent:
			_, known, err = lua.GetComponents(object)
		case configv1alpha1.InterpreterOperationInterpretReplica:
			_, _, known, err = lua.GetReplicas(object)
		case configv1alpha1.InterpreterOperationInterpretHealth:
			_, known, err = lua.InterpretHealth(object)
		}
		return answered(known, err)
	}
}

func (q *question) called(client *webhook.CustomizedInterpreter) interpreter {
	return func(object *unstructured.Unstructured) error {
		var err error
		var known bool
		attributes := &request.Attributes{Operation: q.Operation, Object: object}
		switch q.Operation {
		case configv1alpha1.InterpreterOperationInterpretComponent:
			_, known, err = client.GetComponents(context.Background(), attributes)
		case configv1alpha1.InterpreterOperationInterpretReplica:
			_, _, known, err = client.GetReplicas(context.Background(), attributes)
		case configv1alpha1.InterpreterOperationInterpretHealth:
			_, known, err = client.InterpretHealth(context.Background(), attributes)
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
