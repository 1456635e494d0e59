//go:build !race

package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	"rankcast/cmd/rankcast/e2e/e2etest"
)

// manifests decodes a stream of manifests, and refuses fields that the API does not know. It returns the objects
// by kind and name.
func manifests(t *testing.T, text string) map[string]runtime.Object {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	all := make(map[string]runtime.Object)
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		object, kind, err := decoder.Decode(document, nil, nil)
		require.NoError(t, err, "%s", document)
		named, err := meta.Accessor(object)
		require.NoError(t, err)
		all[kind.Kind+" "+named.GetName()] = object
	}
}

// selects requires that a selector of an object finds the pods of a template.
func selects(t *testing.T, selector *metav1.LabelSelector, pods core.PodTemplateSpec) {
	s, err := metav1.LabelSelectorAsSelector(selector)
	require.NoError(t, err)
	require.False(t, s.Empty())
	require.True(t, s.Matches(labels.Set(pods.Labels)), "%v does not select %v", s, pods.Labels)
}

// kubernetesExample reads the manifests as the API does, and checks that they fit together.
func kubernetesExample(t *testing.T) deployment {
	printed := e2etest.Run(t, "", "example", "kubernetes")
	require.Zero(t, printed.Code, printed.Stderr)
	all := manifests(t, printed.Stdout)
	nodes, redis := all["Deployment rankcast"].(*apps.Deployment), all["StatefulSet rankcast-redis"].(*apps.StatefulSet)
	service, redisService := all["Service rankcast"].(*core.Service), all["Service rankcast-redis"].(*core.Service)
	selects(t, nodes.Spec.Selector, nodes.Spec.Template)
	selects(t, redis.Spec.Selector, redis.Spec.Template)
	selects(t, &metav1.LabelSelector{MatchLabels: service.Spec.Selector}, nodes.Spec.Template)
	selects(t, &metav1.LabelSelector{MatchLabels: redisService.Spec.Selector}, redis.Spec.Template)
	selects(t, all["PodDisruptionBudget rankcast"].(*policy.PodDisruptionBudget).Spec.Selector, nodes.Spec.Template)
	fence := all["NetworkPolicy rankcast-redis"].(*networking.NetworkPolicy).Spec
	selects(t, &fence.PodSelector, redis.Spec.Template)
	selects(t, fence.Ingress[0].From[0].PodSelector, nodes.Spec.Template)
	require.EqualValues(t, 2, *nodes.Spec.Replicas)

	pod, redisPod := nodes.Spec.Template.Spec, redis.Spec.Template.Spec
	node, store := pod.Containers[0], redisPod.Containers[0]
	command, port := ofImage(t)
	require.Empty(t, node.Command)
	require.Equal(t, port, fmt.Sprint(node.Ports[0].ContainerPort))
	for _, name := range []string{service.Spec.Ports[0].TargetPort.StrVal, node.LivenessProbe.HTTPGet.Port.StrVal,
		node.ReadinessProbe.HTTPGet.Port.StrVal} {
		require.Equal(t, node.Ports[0].Name, name)
	}
	require.Equal(t, redis.Spec.VolumeClaimTemplates[0].Name, store.VolumeMounts[0].Name, "the scores outlive the pod")
	for _, p := range []core.PodSpec{pod, redisPod} {
		require.True(t, *p.SecurityContext.RunAsNonRoot)
		require.True(t, *p.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
	}

	d := deployment{redis: store.Command, data: store.VolumeMounts[0].MountPath, node: command, etc: path.Dir(node.VolumeMounts[0].MountPath),
		live: node.LivenessProbe.HTTPGet.Path, ready: node.ReadinessProbe.HTTPGet.Path,
		grace: time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second}
	for _, variable := range node.Env {
		value := variable.Value
		for _, mount := range node.VolumeMounts { // each volume holds one file of the folder
			value = strings.ReplaceAll(value, mount.MountPath, d.etc)
		}
		d.env = append(d.env, variable.Name+"="+value)
		if variable.Name == "RANKCAST_REDIS" {
			u, err := url.Parse(value)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(redisService.Name, ":", redisService.Spec.Ports[0].Port), u.Host)
		}
	}
	return d
}
