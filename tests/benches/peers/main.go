// Judges objects as other projects do, for comparison with `kindsight interpret`.
//
//	peers kstatus|argo-lua|argo-cd|is-healthy|karmada|kubectl-rollout FILE
//
// FILE has one JSON object a line. Standard output gets one line for each object: name, status and
// message. All peers decode with apimachinery's quickest decoder that keeps integers.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// Longest line that is read.
const lineBytesMax = 16 << 20

// A judge gives an object a status and a message.
type judge func(*unstructured.Unstructured) (string, string, error)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: peers kstatus|argo-lua|argo-cd|is-healthy|karmada|kubectl-rollout FILE")
	}
	var judge judge
	switch os.Args[1] {
	case "kstatus":
		judge = kstatus
	case "argo-lua":
		judge = argoLua
	case "argo-cd":
		judge = argoCD
	case "is-healthy":
		judge = isHealthy
	case "karmada":
		judge = karmadaHealth()
	case "kubectl-rollout":
		judge = kubectlRollout
	default:
		log.Fatalf("no peer %q", os.Args[1])
	}
	if err := run(judge, os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(judge judge, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), lineBytesMax)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		var object unstructured.Unstructured
		if err := json.Unmarshal(lines.Bytes(), &object.Object); err != nil {
			return err
		}
		status, message, err := judge(&object)
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		line, err := json.Marshal([]string{object.GetName(), status, message})
		if err != nil {
			return err
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Flush()
}

func kstatus(object *unstructured.Unstructured) (string, string, error) {
	result, err := status.Compute(object)
	if err != nil {
		// A member of another type, for example. Users of kstatus get this error and no status.
		return "Unknown", err.Error(), nil
	}
	return result.Status.String(), result.Message, nil
}
