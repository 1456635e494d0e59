//go:build !race

package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/coreos/go-systemd/v22/unit"
	"github.com/mattn/go-shellwords"
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

// imageCommand and imagePort find the command and the port of the image in the Dockerfile.
var (
	imageCommand = regexp.MustCompile(`ENTRYPOINT \["/(rankcast)"\]\nCMD \["(serve)"\]`)
	imagePort    = regexp.MustCompile(`ENV RANKCAST_ADDR=:(\d+)\n`)
)

// ofImage returns the command and the port that the Dockerfile gives the image.
func ofImage(t *testing.T) (command []string, port string) {
	file, err := os.ReadFile(filepath.Join(e2etest.ModuleRoot, "Dockerfile"))
	require.NoError(t, err)
	found := imageCommand.FindSubmatch(file)
	require.NotNil(t, found)
	return []string{string(found[1]), string(found[2])}, string(imagePort.FindSubmatch(file)[1])
}

// composeProject reads the compose file by the loader of Docker Compose, which refuses what is not in its schema.
func composeProject(t *testing.T) *types.Project {
	file := e2etest.Run(t, "", "example", "compose")
	require.Zero(t, file.Code, file.Stderr)
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: t.TempDir(), ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(file.Stdout)}},
	})
	require.NoError(t, err)
	return project
}

// composeExample returns the processes of the compose file.
func composeExample(t *testing.T) deployment {
	project := composeProject(t)
	one, two, redis := project.Services["node-1"], project.Services["node-2"], project.Services["redis"]
	require.Equal(t, one.Environment, two.Environment)
	require.Empty(t, one.Ports, "Caddy alone is public")
	require.Empty(t, redis.Ports)
	require.True(t, project.Networks["back"].Internal)
	require.Equal(t, "scores", redis.Volumes[0].Source, "a crash of the machine must not take the scores along")

	command, port := ofImage(t)
	caddyfile := project.Configs["caddyfile"].Content
	require.Contains(t, caddyfile, "http://localhost {\n")
	require.Contains(t, caddyfile, "reverse_proxy node-1:"+port+" node-2:"+port+" {")
	d := deployment{redis: redis.Command, data: redis.Volumes[0].Target, node: command, etc: one.Volumes[0].Target,
		ready: regexp.MustCompile(`health_uri (\S+)`).FindStringSubmatch(caddyfile)[1], grace: time.Duration(*one.StopGracePeriod)}
	for name, value := range one.Environment {
		d.env = append(d.env, name+"="+*value)
	}
	return d
}

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

// maxExposure is the exposure that systemd-analyze security accepts, in tenths of ten.
const maxExposure = 15

// service is the section Service of a unit: the values of each option, in order.
type service map[string][]string

func readService(t *testing.T, path string) service {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	options, err := unit.DeserializeOptions(file)
	require.NoError(t, err)
	s := make(service)
	for _, o := range options {
		if o.Section == "Service" {
			s[o.Name] = append(s[o.Name], o.Value)
		}
	}
	return s
}

// systemdExample reads the units, after systemd has found nothing wrong with them.
func systemdExample(t *testing.T) deployment {
	dir := t.TempDir()
	written := e2etest.Run(t, "", "example", "systemd", dir)
	require.Zero(t, written.Code, written.Stderr)
	nodeUnit, redisUnit := filepath.Join(dir, "rankcast@.service"), filepath.Join(dir, "rankcast-redis.service")
	require.Equal(t, redisUnit+"\n"+nodeUnit+"\n", written.Stdout)
	require.Equal(t, 1, e2etest.Run(t, "", "example", "systemd", dir).Code, "it replaces no file")
	node, redis := readService(t, nodeUnit), readService(t, redisUnit)

	// systemd also checks that the programs exist, and this machine may have them elsewhere.
	redisServer, err := exec.LookPath("redis-server")
	require.NoError(t, err)
	here := strings.NewReplacer("/usr/local/bin/rankcast", e2etest.Binary, "/usr/bin/redis-server", redisServer)
	for _, path := range []string{nodeUnit, redisUnit} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(here.Replace(string(text))), 0o600))
	}
	for _, args := range [][]string{
		{"verify", "--man=no", "--recursive-errors=no", nodeUnit, redisUnit},
		{"security", "--offline=true", fmt.Sprint("--threshold=", maxExposure), nodeUnit},
		{"security", "--offline=true", fmt.Sprint("--threshold=", maxExposure), redisUnit},
	} {
		out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
		require.NoError(t, err, "systemd-analyze %v:\n%s", args, out)
		if args[0] == "verify" {
			require.Empty(t, string(out))
		}
	}

	command, err := shellwords.Parse(node["ExecStart"][0])
	require.NoError(t, err)
	require.Equal(t, []string{"/usr/local/bin/rankcast", "serve", "--addr", "127.0.0.1:%i"}, command)
	redisCommand, err := shellwords.Parse(redis["ExecStart"][0])
	require.NoError(t, err)
	grace, err := time.ParseDuration(node["TimeoutStopSec"][0] + "s")
	require.NoError(t, err)
	d := deployment{redis: redisCommand, data: "/var/lib/" + redis["StateDirectory"][0], node: replaced(command, "%i", "0"),
		etc: "/etc/rankcast", grace: grace}
	require.Equal(t, []string{"access.yaml:" + d.etc + "/access.yaml", "token.secret:" + d.etc + "/token.secret"}, node["LoadCredential"])
	for _, variable := range node["Environment"] {
		d.env = append(d.env, strings.ReplaceAll(variable, "%d", d.etc))
	}
	return d
}
