// Karmada's own client for interpreter webhooks, in several goroutines as Karmada has several workers.
//
// The first line of stdin says whom to call about what, each further one how many calls a second there are to be. What
// has been called so far is written to stdout several times a second.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/webhook"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/customized/webhook/request"
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
	beat      = 10 * time.Millisecond // changes of objects come in bunches
	told      = 200 * time.Millisecond
	timeout   = 3
	queueable = 1000
)

type assignment struct {
	Namespace string            `json:"namespace"` // of the Service
	Service   string            `json:"service"`
	Port      int32             `json:"port"`
	Authority []byte            `json:"authority"`
	Workers   int               `json:"workers"`
	Clients   int               `json:"clients"` // each with connections of its own
	Objects   []json.RawMessage `json:"objects"`
}

type report struct {
	Calls   int64   `json:"calls"`
	Failed  int64   `json:"failed"`
	Slowest float64 `json:"slowest"` // seconds, since the report before
	Waiting int     `json:"waiting"` // for a worker
	Error   string  `json:"error"`   // the last one
}

type call func(*webhook.CustomizedInterpreter, *unstructured.Unstructured) (bool, error)

var calls = []call{
	func(client *webhook.CustomizedInterpreter, object *unstructured.Unstructured) (bool, error) {
		_, _, known, err := client.GetReplicas(context.Background(), attributes(configv1alpha1.InterpreterOperationInterpretReplica, object))
		return known, err
	},
	func(client *webhook.CustomizedInterpreter, object *unstructured.Unstructured) (bool, error) {
		_, known, err := client.InterpretHealth(context.Background(), attributes(configv1alpha1.InterpreterOperationInterpretHealth, object))
		return known, err
	},
	func(client *webhook.CustomizedInterpreter, object *unstructured.Unstructured) (bool, error) {
		_, known, err := client.ReflectStatus(context.Background(), attributes(configv1alpha1.InterpreterOperationInterpretStatus, object))
		return known, err
	},
}

func main() {
	quiet := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(quiet)
	quiet.Set("logtostderr", "false")
	quiet.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)

	lines := json.NewDecoder(os.Stdin)
	var given assignment
	check(lines.Decode(&given))
	rate := atomic.Int64{}
	queue := make(chan int, queueable)
	go arrive(&rate, queue)
	seen := &tally{}
	clients := make([]*webhook.CustomizedInterpreter, given.Clients)
	for index := range clients {
		clients[index] = given.client()
	}
	for worker := range given.Workers {
		go given.work(clients[worker%given.Clients], queue, seen)
	}
	go func() {
		for range time.Tick(told) {
			text, err := json.Marshal(seen.report(len(queue)))
			check(err)
			fmt.Println(string(text))
		}
	}()
	for {
		var wanted int64
		if lines.Decode(&wanted) != nil {
			return
		}
		rate.Store(wanted)
	}
}

// arrive queues as many calls a second as there are to be. A slow machine is asked no more than it answers: calls that
// find the queue full are not made, or they would outlast the load.
func arrive(rate *atomic.Int64, queue chan<- int) {
	owed := 0.0
	next := 0
	last := time.Now()
	for now := range time.Tick(beat) {
		owed += now.Sub(last).Seconds() * float64(rate.Load())
		last = now
		for ; owed >= 1; owed-- {
			select {
			case queue <- next:
				next++
			default:
			}
		}
	}
}

func (a *assignment) work(client *webhook.CustomizedInterpreter, queue <-chan int, seen *tally) {
	objects := make([]*unstructured.Unstructured, len(a.Objects))
	for index, text := range a.Objects {
		objects[index] = &unstructured.Unstructured{}
		check(objects[index].UnmarshalJSON(text))
	}
	for turn := range queue {
		begun := time.Now()
		known, err := calls[turn%len(calls)](client, objects[turn/len(calls)%len(objects)])
		if err == nil && !known {
			err = fmt.Errorf("nobody answers for this kind")
		}
		seen.add(time.Since(begun), err)
	}
}

type tally struct {
	mutex sync.Mutex
	so    report
}

func (t *tally) add(took time.Duration, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.so.Calls++
	t.so.Slowest = max(t.so.Slowest, took.Seconds())
	if err != nil {
		t.so.Failed++
		t.so.Error = err.Error()
	}
}

func (t *tally) report(waiting int) report {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := t.so
	now.Waiting = waiting
	t.so.Slowest = 0
	return now
}

func attributes(operation configv1alpha1.InterpreterOperation, object *unstructured.Unstructured) *request.Attributes {
	return &request.Attributes{Operation: operation, Object: object}
}

// client finds the webhook by its Service, as Karmada does; the Service leads to a port of this machine.
func (a *assignment) client() *webhook.CustomizedInterpreter {
	services := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	check(services.Add(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Service},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "127.0.0.1"},
	}))
	informers := genericmanager.NewSingleClusterInformerManager(
		context.Background(), dynamic.NewSimpleDynamicClient(kubernetes.NewScheme()), 0)
	client, err := webhook.NewCustomizedInterpreter(informers, listers.NewServiceLister(services))
	check(err)
	seconds, path := int32(timeout), "/interpret"
	client.LoadConfig([]*configv1alpha1.ResourceInterpreterWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: a.Service},
		Webhooks: []configv1alpha1.ResourceInterpreterWebhook{{
			Name: "caller.karta-interpreter.io",
			ClientConfig: admissionv1.WebhookClientConfig{
				Service:  &admissionv1.ServiceReference{Namespace: a.Namespace, Name: a.Service, Port: &a.Port, Path: &path},
				CABundle: a.Authority,
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
