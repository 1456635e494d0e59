// Package example holds the files that `rankcast example` prints.
package example

import "embed"

// Boards is the boards file of all examples in the documentation, and of the demo.
//
//go:embed boards.yaml
var Boards []byte

// Alerts are rules for Prometheus, in its YAML.
//
//go:embed alerts.yaml
var Alerts []byte

// Grafana is a dashboard, in the JSON of Grafana.
//
//go:embed grafana.json
var Grafana []byte

// Compose is a deployment for Docker Compose.
//
//go:embed compose.yaml
var Compose []byte

// Kubernetes is a deployment for Kubernetes.
//
//go:embed kubernetes.yaml
var Kubernetes []byte

// Systemd holds the units of a deployment on one machine, in the folder systemd.
//
//go:embed systemd
var Systemd embed.FS
