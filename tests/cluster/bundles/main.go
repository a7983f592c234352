// Command bundles reads ResourceBundleStates as the programs of EMCO and ONAP do, and refuses unknown members.
//
// The argument is the generation: v22 or onap. Standard input has one object after another. Standard output has one line
// for each object: the numbers of items of its lists, in the order of their names.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type spec struct {
	Selector *metav1.LabelSelector `json:"selector"`
}

type resource struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Res       []byte `json:"res"`
}

type v22Status struct {
	Ready               bool                                       `json:"ready"`
	ResourceCount       int32                                      `json:"resourceCount"`
	PodStatuses         []corev1.Pod                               `json:"podStatuses,omitempty"`
	ServiceStatuses     []corev1.Service                           `json:"serviceStatuses,omitempty"`
	ConfigMapStatuses   []corev1.ConfigMap                         `json:"configMapStatuses,omitempty"`
	DeploymentStatuses  []appsv1.Deployment                        `json:"deploymentStatuses,omitempty"`
	DaemonSetStatuses   []appsv1.DaemonSet                         `json:"daemonSetStatuses,omitempty"`
	CsrStatuses         []certificatesv1.CertificateSigningRequest `json:"csrStatuses,omitempty"`
	JobStatuses         []batchv1.Job                              `json:"jobStatuses,omitempty"`
	StatefulSetStatuses []appsv1.StatefulSet                       `json:"statefulSetStatuses,omitempty"`
	ResourceStatuses    []resource                                 `json:"resourceStatuses,omitempty"`
}

type onapStatus struct {
	Ready               bool                                            `json:"ready"`
	ResourceCount       int32                                           `json:"resourceCount"`
	PodStatuses         []corev1.Pod                                    `json:"podStatuses"`
	ServiceStatuses     []corev1.Service                                `json:"serviceStatuses"`
	ConfigMapStatuses   []corev1.ConfigMap                              `json:"configMapStatuses"`
	DeploymentStatuses  []appsv1.Deployment                             `json:"deploymentStatuses"`
	SecretStatuses      []corev1.Secret                                 `json:"secretStatuses"`
	DaemonSetStatuses   []appsv1.DaemonSet                              `json:"daemonSetStatuses"`
	IngressStatuses     []extensionsv1beta1.Ingress                     `json:"ingressStatuses"`
	CsrStatuses         []certificatesv1beta1.CertificateSigningRequest `json:"csrStatuses"`
	JobStatuses         []batchv1.Job                                   `json:"jobStatuses"`
	StatefulSetStatuses []appsv1.StatefulSet                            `json:"statefulSetStatuses"`
}

type state[Status any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: bundles v22|onap")
	}
	switch os.Args[1] {
	case "v22":
		return readAll(func(status v22Status) error { return readResources(status.ResourceStatuses) })
	case "onap":
		return readAll(func(onapStatus) error { return nil })
	default:
		return fmt.Errorf("unknown generation %q", os.Args[1])
	}
}

// readAll reads every object of standard input.
func readAll[Status any](check func(Status) error) error {
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	for {
		var object state[Status]
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = check(object.Status)
		}
		if err != nil {
			return err
		}
		fmt.Println(counts(object.Status))
	}
}

// readResources reads the objects of the list of any Kind.
func readResources(resources []resource) error {
	for _, entry := range resources {
		var object struct {
			metav1.TypeMeta `json:",inline"`
			Metadata        metav1.ObjectMeta `json:"metadata"`
		}
		if err := json.Unmarshal(entry.Res, &object); err != nil {
			return fmt.Errorf("%s %s: %w", entry.Kind, entry.Name, err)
		}
		if object.Kind != entry.Kind || object.Metadata.Name != entry.Name {
			return fmt.Errorf("%s %s has %s %s", entry.Kind, entry.Name, object.Kind, object.Metadata.Name)
		}
	}
	return nil
}

// counts returns the name and the number of items of each list. A missing list has the number -.
func counts(status any) string {
	var counts []string
	value := reflect.ValueOf(status)
	for at := range value.NumField() {
		list := value.Field(at)
		if list.Kind() != reflect.Slice {
			continue
		}
		name, _, _ := strings.Cut(value.Type().Field(at).Tag.Get("json"), ",")
		if list.IsNil() {
			counts = append(counts, name+"=-")
		} else {
			counts = append(counts, fmt.Sprintf("%s=%d", name, list.Len()))
		}
	}
	return strings.Join(counts, " ")
}
