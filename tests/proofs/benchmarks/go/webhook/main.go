// Karmada's example of a resource interpreter webhook, as its own main.go starts it, without the port for metrics:
// several of them run next to each other.
package main

import (
	"os"

	"github.com/karmada-io/karmada/examples/customresourceinterpreter/webhook/app"
	"k8s.io/component-base/cli"
	"k8s.io/klog/v2"
	controllerruntime "sigs.k8s.io/controller-runtime"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	metrics.DefaultBindAddress = "0"
	controllerruntime.SetLogger(klog.Background())
	os.Exit(cli.Run(app.NewWebhookCommand(controllerruntime.SetupSignalHandler())))
}
