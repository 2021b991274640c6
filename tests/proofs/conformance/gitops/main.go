// Answers what GitOps tools make of an object: reads objects as JSON lines from stdin, writes verdicts as JSON lines.
//
// The verdicts are those of Argo CD (its health checks in Go and its bundled scripts), of `kubectl rollout status`
// and of kstatus, which Flux waits with. A tool that does not judge a kind leaves its verdict empty.
//
// With the argument "scripts" the lines are {"data": ..., "object": ...}, and the answers are what Argo CD makes of an
// object with that data in its ConfigMap argocd-cm: {"status": ..., "message": ...} or {"error": ...}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/argoproj/gitops-engine/pkg/health"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type verdicts struct {
	ArgoCD  string `json:"argocd"`
	Kubectl string `json:"kubectl"`
	Kstatus string `json:"kstatus"`
}

type question struct {
	Data   json.RawMessage `json:"data"`
	Object json.RawMessage `json:"object"`
}

type verdict struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	answer := judged
	if len(os.Args) > 1 && os.Args[1] == "scripts" {
		answer = scripted
	}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		text, err := json.Marshal(answer(line))
		if err != nil {
			fail(err)
		}
		out.Write(append(text, '\n'))
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func judged(line []byte) any {
	object := read(line)
	return verdicts{argocd(object), kubectl(object), kstatus(object)}
}

func scripted(line []byte) any {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		fail(err)
	}
	found, err := overrides(asked.Data).GetResourceHealth(read(asked.Object))
	switch {
	case err != nil:
		return verdict{Error: err.Error()}
	case found == nil:
		return verdict{Error: "there is no script for the kind"}
	default:
		return verdict{Status: string(found.Status), Message: found.Message}
	}
}

var known = map[string]lua.ResourceHealthOverrides{}

// overrides are the scripts that Argo CD reads from its ConfigMap.
func overrides(data json.RawMessage) lua.ResourceHealthOverrides {
	if found, ok := known[string(data)]; ok {
		return found
	}
	argocd := metav1.ObjectMeta{Name: "argocd-cm", Namespace: "argocd", Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"}}
	configMap := &corev1.ConfigMap{ObjectMeta: argocd}
	if err := json.Unmarshal(data, &configMap.Data); err != nil {
		fail(err)
	}
	manager := settings.NewSettingsManager(context.Background(), fake.NewClientset(configMap), "argocd")
	found, err := manager.GetResourceOverrides()
	if err != nil {
		fail(err)
	}
	known[string(data)] = found
	return found
}

func read(line []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(line); err != nil {
		fail(err)
	}
	return object
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func argocd(object *unstructured.Unstructured) string {
	found, err := health.GetResourceHealth(object, lua.ResourceHealthOverrides{})
	switch {
	case err != nil:
		return "error"
	case found == nil:
		return ""
	default:
		return string(found.Status)
	}
}

func kubectl(object *unstructured.Unstructured) string {
	viewer, err := polymorphichelpers.StatusViewerFor(object.GroupVersionKind().GroupKind())
	if err != nil {
		return ""
	}
	_, done, err := viewer.Status(object, 0)
	switch {
	case err == nil && done:
		return "done"
	case err == nil:
		return "waiting"
	default:
		return "error"
	}
}

func kstatus(object *unstructured.Unstructured) string {
	found, err := status.Compute(object)
	if err != nil {
		return "error"
	}
	return string(found.Status)
}
