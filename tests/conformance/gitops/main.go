// Answers what GitOps tools make of an object: reads objects as JSON lines from stdin, writes verdicts as JSON lines.
//
// The verdicts are those of Argo CD (its health checks in Go and its bundled scripts), of `kubectl rollout status`
// and of kstatus, which Flux waits with. A tool that does not judge a kind leaves its verdict empty.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type verdicts struct {
	ArgoCD  string `json:"argocd"`
	Kubectl string `json:"kubectl"`
	Kstatus string `json:"kstatus"`
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(line); err != nil {
			fail(err)
		}
		text, err := json.Marshal(verdicts{argocd(object), kubectl(object), kstatus(object)})
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
